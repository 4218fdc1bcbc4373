"""What losses of torch, and differences, hold against each other: seen, and cut where asked."""

from __future__ import annotations

import bisect
import inspect
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812  as everybody calls it

from ..engine import graph
from ..engine.operators import Functions
from ..program.frames import Frames, Raw
from ..wire import Given, Stack

_KEPT = 20_000
TARGET = "target"
_LOSSES = {
    function: tuple(parameters)
    for function in vars(F).values()
    if inspect.isfunction(function) and TARGET in (parameters := inspect.signature(function).parameters)
}
_EITHER = frozenset({F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss})
"""Losses that are the same when their two sides change places."""
_OPERANDS = ("operand", "operand")
_DIFFERENCES = dict.fromkeys((torch.sub, torch.Tensor.sub, torch.subtract, torch.Tensor.subtract), _OPERANDS)
_PAIRS = {
    **dict.fromkeys((torch.cosine_similarity, torch.pairwise_distance), ("x1", "x2")),
    **dict.fromkeys((torch.dist, torch.Tensor.dist), _OPERANDS),
}
_PRODUCTS = dict.fromkeys((torch.mul, torch.Tensor.mul, torch.multiply, torch.Tensor.multiply), _OPERANDS)
_DOTS = dict.fromkeys(
    (torch.dot, torch.Tensor.dot, torch.matmul, torch.Tensor.matmul, torch.Tensor.__matmul__), _OPERANDS
)
_NAMES: Mapping[Any, tuple[str, ...]] = {**_LOSSES, **_DIFFERENCES, **_PAIRS, **_PRODUCTS, **_DOTS}
"""The parameters of what is watched, in order."""
COMPARE = frozenset(function.__name__ for function in {**_LOSSES, **_DIFFERENCES, **_PAIRS})
"""The names of what holds something against something else, whether both have a graph or not."""
_NORMS = graph.kinds("LinalgVectorNorm", "Norm") | {"NormBackward1"}
_SQUARES = graph.kinds("Pow", "Mul")
_BEHIND = graph.kinds("Expand", "ClampMin", "Clamp", "Add", "Sqrt", "Unsqueeze") | {"ClampBackward1", "SumBackward1"}
"""What keeps a norm from zero before something is divided by it, or repeats it; and what one is made of by hand."""


class Held(NamedTuple):
    """One call that holds tensors with a graph against each other.

    `sides`: what made each of them, by the name and the place of its parameter, as `wire.Given` has them. `either`: the
    call does not tell which of two is the target. `differs`: nor whether it is a loss at all.
    """

    sides: dict[str, int]
    either: bool
    differs: bool
    age: int = -1


class _Call(NamedTuple):
    """From which age on the nodes of a call were made, up to which; where; and what it holds."""

    began: int
    ended: int
    raw: Raw
    held: Held


class Aims(Functions):
    """Remembers the calls that hold one tensor with a graph against another.

    The product of two tensors of length one is that of a cosine. Of calls that stand at one of `cut`, that argument has
    no graph.
    """

    def __init__(self, frames: Frames, cut: Iterable[Given] = ()) -> None:
        super().__init__()
        self._frames = frames
        self._cut: dict[Stack, list[str]] = {}
        for one in cut:
            self._cut.setdefault(one.stack, []).append(one.argument)
        self._found: deque[_Call] = deque(maxlen=_KEPT)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if (names := _NAMES.get(func)) is None:
            return func(*args, **kwargs)
        holds = _is_held(func, args)
        if not (holds or self._cut):
            return func(*args, **kwargs)
        sides = _sides(names, args, kwargs)
        if len(set(sides.values())) < 2 and holds:  # noqa: PLR2004  nothing is held against another
            return func(*args, **kwargs)
        raw, began = self._frames.here(), graph.now()
        for argument in self._cut.get(self._frames.resolve(raw), ()) if self._cut else ():
            args, kwargs = _without(argument, args, kwargs) if argument in sides else (args, kwargs)
        result = func(*args, **kwargs)
        if holds:
            held = Held(sides, func not in _LOSSES or func in _EITHER, func in _DIFFERENCES)
            self._found.append(_Call(began, graph.now(), raw, held))
        return result

    def placed(self, edges: Iterable[tuple[int, int]]) -> Iterator[tuple[Raw, Held]]:
        """Each such call in a graph, given by its edges, with its place and what the graph has of it."""
        known = list(self._found)
        begins, reached = [one.began for one in known], dict[int, dict[int, int]]()
        for user, made in edges:
            at = bisect.bisect_right(begins, user) - 1
            if at >= 0 and made < known[at].began <= user < known[at].ended:
                reached.setdefault(at, {})[made] = user
        for at, users in reached.items():
            sides = {argument: made for argument, made in known[at].held.sides.items() if made in users}
            if sides:
                yield known[at].raw, known[at].held._replace(sides=sides, age=max(users.values()))


def _without(argument: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, with one of them cut from its graph."""
    name, place = argument.split()
    if name in kwargs:
        return args, {**kwargs, name: kwargs[name].detach()}
    return tuple(one.detach() if at == int(place) else one for at, one in enumerate(args)), kwargs


def holds_two(func: Any, args: Any, kwargs: Any) -> bool:
    """Whether a call is one that would be remembered: what it holds against each other both has a graph."""
    names = _NAMES.get(func)
    return names is not None and _is_held(func, args) and len(set(_sides(names, args, kwargs).values())) > 1


def _is_held(func: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call that is watched holds its arguments against each other: not any product, but that of a cosine."""
    return func not in _DOTS and (func not in _PRODUCTS or (len(args) > 1 and all(map(_is_unit, args))))


def _is_unit(value: Any) -> bool:
    """Whether a tensor was divided by its own norm."""
    node = graph.made_by(value) if isinstance(value, torch.Tensor) else None
    if node is None or node.name() != "DivBackward0":
        return False
    whole, by = (one for one, _ in node.next_functions)
    passed = set[str]()
    while by is not None and by.name() in _BEHIND:
        passed.add(by.name())
        by = by.next_functions[0][0]
    norms = _NORMS | _SQUARES if passed >= {"SqrtBackward0", "SumBackward1"} else _NORMS
    return by is not None and by.name() in norms and {whole} == set(graph.children(by))


def _sides(names: tuple[str, ...], args: Any, kwargs: Any) -> dict[str, int]:
    """What made the arguments of a call that have a graph, by the names and places of its parameters."""
    given = {f"{name} {place}": value for place, (name, value) in enumerate(zip(names, args, strict=False))}
    given |= {f"{name} {names.index(name)}": value for name, value in kwargs.items() if name in names}
    with torch._C.DisableTorchFunction():
        return {argument: made for argument, value in given.items() if (made := _made(value)) >= 0}


def _made(value: Any) -> int:
    """The age of the node that made a tensor; -1 for what has no graph, or is a leaf."""
    node = graph.made_by(value) if isinstance(value, torch.Tensor) and torch.is_grad_enabled() else None
    return int(node._sequence_nr()) if node is not None else -1
