"""Torch's functions and the methods of its tensors, modules and optimizers, as far as autograd sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.check.abstract import library, nets, operators
from autofix.check.abstract.values import (
    MAYBE,
    YES,
    Ask,
    Class,
    Const,
    Function,
    Happening,
    Instance,
    Listed,
    Method,
    Mode,
    Opaque,
    Optimizer,
    Plain,
    Tensor,
    Value,
    contents,
)

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from autofix.check.abstract.player import Player

_FLOATING = (
    "torch.FloatTensor",
    "torch.Tensor",
    "torch.DoubleTensor",
    "torch.tensor",
    "torch.as_tensor",
    "torch.asarray",
    "torch.from_numpy",
)
_QUIET = (
    "manual_seed",
    "save",
    "set_default_dtype",
    "set_num_threads",
    "use_deterministic_algorithms",
    "device",
    "dtype",
)
_NOT_OPERATORS = (
    "torch.cuda.", "torch.backends.", "torch.distributed.", "torch.multiprocessing.", "torch.random.", "torch.version.",
    "torch.nn.utils.clip", "torch.onnx.", "torch.profiler.", "torch.hub.", "torch.set_", "torch.get_", "torch.is_",
    "torch.utils.tensorboard", "torch.utils.data.", "torch.Generator", "torch.Size", "torch.autograd.set_",
)  # fmt: skip
_SAME = frozenset({
    "to", "cuda", "cpu", "train", "eval", "float", "double", "half", "share_memory", "bfloat16", "to_empty",
    "xpu", "mps", "type",
})  # fmt: skip
_OBJECTS = (Instance, Function, Class, Method)
_FREEZING = ("freeze", "frozen", "grad", "fix_", "toggle", "trainable")


def call(player: Player, name: str, ask: Ask) -> Value:
    """A call of something below `torch`, by its full name."""
    short = name.rpartition(".")[2]
    special = _SPECIAL.get(name)
    if special is not None:
        return special(player, ask)
    if name in _FLOATING or short in {"FloatTensor", "DoubleTensor"}:
        return _from_data(player, short, ask)
    for start, handler in _BELOW.items():
        if name.startswith(start) and short[:1].isupper() and "lr_scheduler" not in name:
            return handler(player, name, ask)
    if name.startswith("torch.nn.init."):
        return _initialise(player, ask)
    if name.startswith("torch.utils.checkpoint.") and ask.given:
        return player.call(ask.given[0], Ask(ask.given[1:], {}, ask.node))
    if name.startswith(_NOT_OPERATORS) or short in _QUIET or "lr_scheduler" in name:
        return library.data()
    if name.startswith(("torch.utils.", "torch.func")):
        return player.unknown(ask.node)
    return function(player, name, ask)


def _distribution(_: Player, __: str, ask: Ask) -> Value:
    made = Instance(None, "torch.distributions")
    made.attributes["given"] = Listed([*ask.given, *ask.words.values()])
    return made


def function(player: Player, name: str, ask: Ask) -> Value:
    """A function that computes with tensors."""
    short = name.rpartition(".")[2]
    if not operators.is_known(short) and any(isinstance(one, _OBJECTS) for one in (*ask.given, *ask.words.values())):
        return player.unknown(ask.node)  # it may call what it is given
    flag = ask.words.get("inplace")
    written = isinstance(flag, Const) and flag.value is True
    first = ask.given[0] if ask.given else ask.words.get("input")
    if isinstance(first, Tensor) and (written or (short.endswith("_") and not name.startswith("torch.nn.utils"))):
        return _in_place(player, first, short.removesuffix("_"), ask.given[1:], ask.node)
    for value in ask.given[:1]:
        for one in contents(value):
            if isinstance(one, Opaque) and not one.data:
                one.is_tensor = True
    out = ask.words.get("out")
    given = [*ask.given, *(value for key, value in ask.words.items() if key == "input")]
    words = {key: value for key, value in ask.words.items() if key not in {"input", "out"}}
    result = operators.apply(player.tape, short, given, words, player.place(ask.node))
    if isinstance(out, Tensor):
        player.tape.write(out, [], player.place(ask.node), short)
        return out
    return result


def _set_grad(player: Player, ask: Ask) -> Value:
    """`set_grad_enabled(…)` acts when it is called; a `with` only undoes it."""
    made = Mode(on=player.truth(ask.first("mode") or Plain()))
    player.tape.grad = made.on if not player.tape.conditions else None
    if player.tape.grad is False:
        player.tape.switched = player.place(ask.node)
    return made


def _inference(player: Player, ask: Ask) -> Value:
    flag = ask.first("mode")
    known = player.truth(flag) if flag is not None else True
    return Mode(on=None if known is None else not known)


def _from_data(player: Player, short: str, ask: Ask) -> Value:
    """`torch.tensor(…)`: what it is made of loses its graph."""
    value = ask.given[0] if ask.given else ask.words.get("data")
    if short in {"as_tensor", "asarray"} and isinstance(value, Tensor):
        return value
    made = Tensor()
    flag = ask.words.get("requires_grad")
    if flag is not None:
        player.require(made, flag, ask.node)
    made.cut = cut_of(player, value, ask.node, short)
    made.scalar = True if isinstance(value, Plain | Const) else None
    return made


def cut_of(player: Player, value: Value | None, node: ast.AST, text: str) -> Happening | None:
    """Where the graph ended of what some data is made of."""
    match value:
        case Plain(cut=cut):
            return cut
        case Listed(items=items):
            return next((cut for item in items if (cut := cut_of(player, item, node, text)) is not None), None)
        case Tensor():
            return player.tape.happening(player.place(node), text) if value.needs == YES else value.cut
    return None


def _variable(player: Player, ask: Ask) -> Value:
    value = ask.given[0] if ask.given else ask.words.get("data")
    flag = ask.words.get("requires_grad", ask.given[1] if len(ask.given) > 1 else None)
    if not isinstance(value, Tensor):
        made = Tensor()
        if flag is not None:
            player.require(made, flag, ask.node)
        return made
    if flag is None or isinstance(value, Opaque):
        return value
    made = operators.detached(player.tape, value, player.place(ask.node), "Variable")
    player.require(made, flag, ask.node)
    return made


def _initialise(player: Player, ask: Ask) -> Value:
    if ask.given and isinstance(ask.given[0], Tensor):
        before, player.tape.grad = player.tape.grad, False
        player.tape.write(ask.given[0], [], player.place(ask.node), "init")
        player.tape.grad = before
    return ask.given[0] if ask.given else Plain()


def _flag(said: Mapping[str, Value], name: str) -> bool | None:
    """A keyword that is on, off, or not known; `**` may say any."""
    value = said.get(name, said.get("**"))
    if value is None:
        return False
    return bool(value.value) if isinstance(value, Const) else None


def backward(player: Player, root: Tensor, ask: Ask) -> None:
    """`root.backward(gradient, retain_graph, create_graph, inputs)`."""
    names = ("gradient", "retain_graph", "create_graph", "inputs")
    said = {**dict(zip(names, ask.given, strict=False)), **ask.words}
    create = _flag(said, "create_graph")
    retain = _flag(said, "retain_graph") if "retain_graph" in said or "**" in said else create
    only = said.get("inputs")
    if root.scalar is False and "gradient" not in said and root.needs == YES:
        player.tape.event("nonscalar", player.place(ask.node), tensor=root, node=root.node)
    nodes = None
    if only is not None:
        nodes = [one.node for one in contents(only) if one.node is not None]
        retain = True if isinstance(only, Opaque) else retain
    reached = player.tape.backward(root, player.place(ask.node), retain=retain is not False, only=nodes)
    for leaf in reached if create is not False else ():
        leaf.derived = True


def _backward_function(player: Player, ask: Ask) -> Value:
    roots = [*contents(ask.given[0])] if ask.given else [*contents(ask.words.get("tensors"))]
    if len(roots) == 1:
        backward(player, roots[0], Ask(ask.given[1:], {k: v for k, v in ask.words.items() if k != "tensors"}, ask.node))
    elif roots:
        joined = player.tape.operate("backward", roots, player.place(ask.node), holds=False)
        backward(player, joined, Ask(ask.given[1:], {k: v for k, v in ask.words.items() if k != "tensors"}, ask.node))
    return Const(None)


def grad(player: Player, ask: Ask) -> Value:
    """`torch.autograd.grad(outputs, inputs, …)`."""
    names = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph")
    said = {**dict(zip(names, ask.given, strict=False)), **ask.words}
    outputs, inputs = [*contents(said.get("outputs"))], said.get("inputs")
    targets = [*contents(inputs)]
    create = _flag(said, "create_graph")
    retain = _flag(said, "retain_graph") if "retain_graph" in said or "**" in said else create
    place = player.place(ask.node)
    if outputs and targets and player.tape.grad is not None:
        for one in targets:
            if one.node is None and not isinstance(one, Opaque):
                player.tape.event("input-without-gradient", place, tensor=one, cause=one.cut)
                break
        else:
            _derive(player, outputs, targets, ask.node, retain=retain is not False or isinstance(inputs, Opaque))
    results: list[Value] = [_derivative(player, outputs, one, create, ask.node) for one in targets]
    return Listed(
        results or [player.unknown(ask.node)], "tuple", exact=bool(results) and isinstance(inputs, Tensor | Listed)
    )


def _derive(player: Player, outputs: list[Tensor], targets: list[Tensor], node: ast.AST, *, retain: bool) -> None:
    place = player.place(node)
    root = outputs[0] if len(outputs) == 1 else player.tape.operate("grad", outputs, place, holds=False)
    nodes = [one.node for one in targets if one.node is not None]
    reached = [one.node.leaf for one in targets if one.node is not None and one.node.leaf is not None]
    before = [(leaf, leaf.grad) for leaf in reached]
    known = all(one.needs == YES and not isinstance(one, Opaque) for one in targets)
    player.tape.backward(root, place, retain=retain or not known, only=nodes)
    for leaf, had in before:
        leaf.grad = had


def _derivative(player: Player, outputs: list[Tensor], target: Tensor, create: bool | None, node: ast.AST) -> Value:
    if isinstance(target, Opaque):
        return player.unknown(node)
    if create is False:
        made = Tensor()
        made.cut = player.tape.happening(player.place(node), "grad")
        return made
    result = player.tape.operate("grad", [*outputs, target], player.place(node))
    if create is None and result.node is not None:
        result.node.needs = MAYBE
    return result


# --- methods -------------------------------------------------------------------------------------


def _tensor_backward(player: Player, tensor: Tensor, ask: Ask) -> Value:
    backward(player, tensor, ask)
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


def tensor_method(player: Player, tensor: Tensor, name: str, ask: Ask) -> Value:
    """A method of a tensor."""
    special = _OF_TENSORS.get(name)
    if special is not None:
        return special(player, tensor, ask)
    if name.endswith("_") and not name.endswith("__"):
        return _in_place(player, tensor, name[:-1], ask.given, ask.node)
    if isinstance(tensor, Opaque):
        if name not in operators.TENSOR_METHODS and not name.startswith("to"):
            return player.part(tensor, name, ask.node) if tensor.data else player.unknown(ask.node)
        if name in operators.TENSOR_METHODS and not tensor.data:
            tensor.is_tensor = True
    return operators.apply(player.tape, name, [tensor, *ask.given], ask.words, player.place(ask.node))


def _in_place(player: Player, tensor: Tensor, name: str, given: Sequence[Value], node: ast.AST) -> Tensor:
    if not isinstance(tensor, Opaque) or not tensor.data:
        if isinstance(tensor, Opaque):
            tensor.is_tensor = True
        values = [one for value in given for one in contents(value)]
        player.tape.write(tensor, values, player.place(node), f"{name}_")
        if operators.saves_result(name):
            player.tape.save_result(tensor)
            if tensor.node is not None:
                tensor.node.holds = True
    return tensor


def _parameters(_: Player, module: Instance, __: Ask) -> Value:
    return Listed([*nets.parameters(module)], "tuple", exact=nets.complete(module))


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


def _parts_of(_: Player, module: Instance, __: Ask) -> Value:
    return Listed([one for one in module.attributes.values() if nets.is_module(one)], "tuple", exact=False)


def _all_parts(_: Player, module: Instance, __: Ask) -> Value:
    return Listed([*_modules(module, set())], "tuple", exact=False)


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


def _items(_: Player, module: Instance, __: Ask) -> Value:
    return Listed([Listed([Const(key), value], "tuple") for key, value in nets.held(module)], "tuple")


def _values(_: Player, module: Instance, __: Ask) -> Value:
    return Listed([value for _, value in nets.held(module)], "tuple")


def _keys(_: Player, module: Instance, __: Ask) -> Value:
    return Listed([Const(key) for key, _ in nets.held(module)], "tuple")


_OF_MODULES: dict[str, Callable[[Player, Instance, Ask], Value]] = {
    "parameters": _parameters, "named_parameters": _named_parameters, "requires_grad_": _freeze, "zero_grad": _zero,
    "register_buffer": _register, "register_parameter": _register, "add_module": _register,
    "register_forward_hook": _hook, "register_forward_pre_hook": _hook_before, "children": _parts_of,
    "modules": _all_parts, "load_state_dict": _load, "state_dict": lambda *_: library.data(), "apply": _apply,
    "append": _append, "extend": _append, "items": _items, "values": _values, "keys": _keys,
}  # fmt: skip


def module_method(player: Player, module: Instance, name: str, ask: Ask) -> Value | None:
    """A method that `torch.nn.Module` or a container of modules gives; None for others."""
    if name in _SAME:
        return module
    handler = _OF_MODULES.get(name)
    return handler(player, module, ask) if handler is not None else None


def _modules(module: Instance, seen: set[int]) -> Iterator[Instance]:
    """A module's parts and itself, as `apply` goes through them."""
    seen.add(id(module))
    for value in [*module.attributes.values()]:
        if isinstance(value, Instance) and nets.is_module(value) and id(value) not in seen:
            yield from _modules(value, seen)
    yield module


def optimizer_method(player: Player, optimizer: Optimizer, name: str, given: Sequence[Value], node: ast.AST) -> Value:
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


def distribution_method(player: Player, made: Instance, name: str, given: Sequence[Value], node: ast.AST) -> Value:
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


def _itself(player: Player, ask: Ask) -> Value:
    return ask.given[0] if ask.given else player.unknown(ask.node)


_SPECIAL: dict[str, Callable[[Player, Ask], Value]] = {
    "torch.autograd.backward": _backward_function, "torch.autograd.grad": grad, "torch.set_grad_enabled": _set_grad,
    "torch.autograd.Variable": _variable, "torch.autograd.variable.Variable": _variable, "torch.compile": _itself,
    "torch.jit.script": _itself, "torch.autograd.set_grad_enabled": _set_grad, "torch.inference_mode": _inference,
    "torch.no_grad": lambda *_: Mode(on=False), "torch.autograd.no_grad": lambda *_: Mode(on=False),
    "torch.enable_grad": lambda *_: Mode(on=True), "torch.autograd.enable_grad": lambda *_: Mode(on=True),
}  # fmt: skip
_BELOW: dict[str, Callable[[Player, str, Ask], Value]] = {
    "torch.optim.": nets.optimizer, "torch.distributions.": _distribution, "torch.nn.": nets.make,
}  # fmt: skip
