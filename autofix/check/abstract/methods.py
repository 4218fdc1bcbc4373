"""Plays the methods of tensors, modules, optimizers and distributions of torch, as far as autograd sees them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from autofix.check.abstract import containers, gradients, library, nets, operators
from autofix.check.abstract.player import Player
from autofix.check.abstract.values import (
    MAYBE,
    YES,
    Ask,
    Const,
    Instance,
    Listed,
    Mapped,
    Opaque,
    Optimizer,
    Plain,
    Tensor,
    Value,
    contents,
)

_SAME = frozenset({
    "to", "cuda", "cpu", "train", "eval", "float", "double", "half", "share_memory", "bfloat16", "to_empty",
    "xpu", "mps", "type",
})  # fmt: skip
_FREEZING = ("freeze", "frozen", "grad", "fix_", "toggle", "trainable")


def _tensor_backward(player: Player, tensor: Tensor, ask: Ask) -> Value:
    gradients.backward(player, tensor, ask)
    return Const(None)


def _require(player: Player, tensor: Tensor, ask: Ask) -> Value:
    player.require(tensor, ask.first("requires_grad"), ask.node)
    return tensor


def _detach_in_place(player: Player, tensor: Tensor, ask: Ask) -> Value:
    tensor.cut = player.tape.happening(player.place(ask.node), "detach_")
    tensor.node = None
    return tensor


def _to_numpy(player: Player, tensor: Tensor, ask: Ask) -> Value:
    place = player.place(ask.node)
    if tensor.needs == YES and not isinstance(tensor, Opaque):
        player.tape.event("numpy", place, tensor=tensor, node=tensor.node)
    return operators.apply(player.tape, "numpy", [tensor], {}, place)


def _retain(_: Player, tensor: Tensor, __: Ask) -> Value:
    if tensor.node is not None:
        tensor.node.retained = True
    return Plain()


_OF_TENSORS: dict[str, Callable[[Player, Tensor, Ask], Value]] = {
    "backward": _tensor_backward, "requires_grad_": _require, "detach_": _detach_in_place, "numpy": _to_numpy,
    "__array__": _to_numpy, "retain_grad": _retain, "register_hook": lambda *_: Plain(),
    "share_memory_": lambda _, tensor, __: tensor,
}  # fmt: skip


def of_tensor(player: Player, tensor: Tensor, name: str, ask: Ask) -> Value:
    """A method of a tensor."""
    special = _OF_TENSORS.get(name)
    if special is not None:
        return special(player, tensor, ask)
    if name.endswith("_") and not name.endswith("__"):
        return write(player, tensor, name[:-1], ask.given, ask.node)
    if isinstance(tensor, Opaque):
        if name not in operators.TENSOR_METHODS and not name.startswith("to"):
            return player.part(tensor, name, ask.node) if tensor.data else player.unknown(ask.node)
        if name in operators.TENSOR_METHODS and not tensor.data:
            tensor.is_tensor = True
    return operators.apply(player.tape, name, [tensor, *ask.given], ask.words, player.place(ask.node))


def write(player: Player, tensor: Tensor, name: str, given: Sequence[Value], node: ast.AST) -> Tensor:
    if not isinstance(tensor, Opaque) or not tensor.data:
        if isinstance(tensor, Opaque):
            tensor.is_tensor = True
        operators.write(player.tape, tensor, name, given, player.place(node))
    return tensor


def _named_parameters(_: Player, module: Instance, __: Ask) -> Value:
    named = nets.named_parameters(module, "", set())
    pairs: list[Value] = [Listed([Const(key), one], "tuple") for key, one in named]
    return Listed(pairs, "tuple", exact=nets.complete(module))


def _freeze(player: Player, module: Instance, ask: Ask) -> Value:
    for one in [*nets.parameters(module)]:
        player.require(one, ask.first("requires_grad"), ask.node)
    return module


def _zero(_: Player, module: Instance, __: Ask) -> Value:
    for one in nets.parameters(module):
        one.grad = False
    return Const(None)


def _register(_: Player, module: Instance, ask: Ask) -> Value:
    if len(ask.given) > 1 and isinstance(ask.given[0], Const):
        module.attributes[str(ask.given[0].value)] = ask.given[1]
    return Const(None)


def _hook(_: Player, module: Instance, ask: Ask) -> Value:
    module.hooks.extend(ask.given[:1])
    return Plain()


def _hook_before(_: Player, module: Instance, ask: Ask) -> Value:
    module.before.extend(ask.given[:1])
    return Plain()


def _load(player: Player, module: Instance, ask: Ask) -> Value:
    happening = player.tape.happening(player.place(ask.node), "load_state_dict")
    for one in nets.parameters(module):
        one.storage.writes.append(happening)
    return Plain()


def _apply(player: Player, module: Instance, ask: Ask) -> Value:
    for one in _modules(module, set()):
        player.call(ask.given[0], Ask([one], {}, ask.node))
    return module


def _append(_: Player, module: Instance, ask: Ask) -> Value:
    more = ask.given[0].items if ask.given and isinstance(ask.given[0], Listed) else ask.given[:1]
    for one in more:
        module.attributes[str(len(module.attributes))] = one
    return module


_OF_MODULES: dict[str, Callable[[Player, Instance, Ask], Value]] = {
    "parameters": lambda _, module, __: Listed([*nets.parameters(module)], "tuple", exact=nets.complete(module)),
    "named_parameters": _named_parameters, "requires_grad_": _freeze, "zero_grad": _zero,
    "register_buffer": _register, "register_parameter": _register, "add_module": _register,
    "register_forward_hook": _hook, "register_forward_pre_hook": _hook_before,
    "children": lambda _, made, __: Listed([*filter(nets.is_module, made.attributes.values())], "tuple", exact=False),
    "modules": lambda _, module, __: Listed([*_modules(module, set())], "tuple", exact=False),
    "load_state_dict": _load, "state_dict": lambda *_: library.data(), "apply": _apply,
    "append": _append, "extend": _append,
}  # fmt: skip


def of_module(player: Player, module: Instance, name: str, ask: Ask) -> Value | None:
    """A method that `torch.nn.Module` or a container of modules gives; None for others."""
    if name in _SAME:
        return module
    if name in {"items", "values", "keys"}:
        return containers.method(player, Mapped(dict(nets.held(module))), name, ask)
    handler = _OF_MODULES.get(name)
    return handler(player, module, ask) if handler is not None else None


def _modules(module: Instance, seen: set[int]) -> Iterator[Instance]:
    """A module's parts and itself, as `apply` goes through them."""
    seen.add(id(module))
    for value in [*module.attributes.values()]:
        if isinstance(value, Instance) and nets.is_module(value) and id(value) not in seen:
            yield from _modules(value, seen)
    yield module


def of_optimizer(player: Player, optimizer: Optimizer, name: str, given: Sequence[Value], node: ast.AST) -> Value:
    """A method of a torch optimizer."""
    if name == "step":
        if given and not isinstance(given[0], Const):
            _closure(player, optimizer, given[0], node)
        player.tape.step(optimizer, player.place(node))
        return player.unknown(node)
    if name == "zero_grad":
        for one in optimizer.parameters:
            one.grad = False
    elif name == "add_param_group" and given:
        found, exact = nets.owned(given[0])
        optimizer.parameters.extend(found)
        optimizer.exact = optimizer.exact and exact
    return Const(None)


def _closure(player: Player, optimizer: Optimizer, closure: Value, node: ast.AST) -> None:
    """`step(closure)`: LBFGS calls it several times, with a step in between."""
    before, player.tape.grad = player.tape.grad, True
    several = optimizer.kind == "LBFGS"
    for _ in range(1 + several):
        player.call(closure, Ask([], {}, node))
        if several:
            player.tape.step(optimizer, player.place(node))
    player.tape.grad = before


def of_distribution(player: Player, made: Instance, name: str, given: Sequence[Value], node: ast.AST) -> Value:
    """What a distribution gives: a sample has no graph, all else has that of its parameters."""
    inputs = [*contents(made.attributes["given"]), *(one for value in given for one in contents(value))]
    if name in {"sample", "sample_n"}:
        return operators.apply(player.tape, "argmax", [Listed([*inputs])], {}, player.place(node))
    if name in {"expand", "independent"}:
        return made
    return player.tape.operate(name, inputs, player.place(node))


def frozen_by(player: Player, name: str, ask: Ask) -> None:
    """An unknown function whose name speaks of freezing may switch the flags of what it is given."""
    if not any(word in name.lower() for word in _FREEZING):
        return
    for value in (*ask.given, *ask.words.values()):
        for one in [*nets.parameters(value), *contents(value)]:
            if one.node is not None and one.node.leaf is not None:
                one.node.needs = min(one.node.needs, MAYBE)
            elif one.node is None and not isinstance(one, Opaque) and one.base is None:
                player.tape.leaf(player.place(ask.node), MAYBE, one)
