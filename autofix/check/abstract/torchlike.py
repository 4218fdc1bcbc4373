"""Plays calls of torch's functions, by their full names."""

from __future__ import annotations

import ast
from collections.abc import Callable

from autofix.check.abstract import gradients, library, methods, nets, operators
from autofix.check.abstract.player import Player
from autofix.check.abstract.values import (
    YES,
    Ask,
    Class,
    Const,
    Function,
    Happening,
    Instance,
    Listed,
    Mapped,
    Method,
    Mode,
    Named,
    Opaque,
    Plain,
    Tensor,
    Value,
    contents,
)

_FLOATING = (
    "torch.FloatTensor", "torch.Tensor", "torch.DoubleTensor", "torch.tensor", "torch.as_tensor", "torch.asarray",
    "torch.from_numpy",
)  # fmt: skip
_QUIET = (
    "manual_seed", "save", "set_default_dtype", "set_num_threads", "use_deterministic_algorithms", "device", "dtype",
)  # fmt: skip
_NOT_OPERATORS = (
    "torch.cuda.", "torch.backends.", "torch.distributed.", "torch.multiprocessing.", "torch.random.", "torch.version.",
    "torch.nn.utils.clip", "torch.onnx.", "torch.profiler.", "torch.hub.", "torch.set_", "torch.get_", "torch.is_",
    "torch.utils.tensorboard", "torch.utils.data.", "torch.Generator", "torch.Size", "torch.autograd.set_",
)  # fmt: skip
_OBJECTS = (Instance, Function, Class, Method)


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


def _distribution(player: Player, _: str, ask: Ask) -> Value:
    """A distribution, or a transform of one, with all that it is made of; an object of another kind may hold any."""
    made_of: list[Value] = []
    for one in (*ask.given, *ask.words.values()):
        inner = one.attributes.get("given") if isinstance(one, Instance) else None
        made_of.append(inner or (player.unknown(ask.node) if isinstance(one, _OBJECTS) else one))
    return Instance(None, "torch.distributions", {"given": Listed(made_of)})


def function(player: Player, name: str, ask: Ask) -> Value:
    """A function that computes with tensors."""
    short = name.rpartition(".")[2]
    if not operators.is_known(short) and any(isinstance(one, _OBJECTS) for one in (*ask.given, *ask.words.values())):
        return player.unknown(ask.node)  # it may call what it is given
    flag = ask.words.get("inplace")
    written = isinstance(flag, Const) and flag.value is True
    first = ask.given[0] if ask.given else ask.words.get("input")
    if isinstance(first, Tensor) and (written or (short.endswith("_") and not name.startswith("torch.nn.utils"))):
        return methods.write(player, first, short.removesuffix("_"), ask.given[1:], ask.node)
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
    value = ask.first("data")
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
    value = ask.first("data")
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


def _itself(player: Player, ask: Ask) -> Value:
    return ask.given[0] if ask.given else player.unknown(ask.node)


def _is_tensor(player: Player, ask: Ask) -> Value:
    match ask.given:
        case [Const() | Plain() | Listed() | Mapped()]:
            return Const(value=False)
    return library.call(player, "isinstance", ask._replace(given=[*ask.given, Named("torch.Tensor")])) or Plain()


_SPECIAL: dict[str, Callable[[Player, Ask], Value]] = {
    "torch.autograd.backward": gradients.backward_of_several, "torch.autograd.grad": gradients.grad,
    "torch.set_grad_enabled": _set_grad, "torch.is_tensor": _is_tensor,
    "torch.autograd.Variable": _variable, "torch.autograd.variable.Variable": _variable, "torch.compile": _itself,
    "torch.jit.script": _itself, "torch.autograd.set_grad_enabled": _set_grad, "torch.inference_mode": _inference,
    "torch.no_grad": lambda *_: Mode(on=False), "torch.autograd.no_grad": lambda *_: Mode(on=False),
    "torch.enable_grad": lambda *_: Mode(on=True), "torch.autograd.enable_grad": lambda *_: Mode(on=True),
}  # fmt: skip
_BELOW: dict[str, Callable[[Player, str, Ask], Value]] = {
    "torch.optim.": nets.optimizer, "torch.distributions.": _distribution, "torch.nn.": nets.make,
}  # fmt: skip
