"""What losses of torch are given as their target, by the names of their own parameters: seen, and cut where asked."""

from __future__ import annotations

import bisect
import contextlib
import inspect
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812  as everybody calls it
from torch.overrides import TorchFunctionMode

from ..engine import graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..program.frames import Frames, Raw
    from ..wire import Given

_KEPT = 20_000
_TARGET = "target"
_LOSSES = {
    function: signature
    for function in vars(F).values()
    if inspect.isfunction(function) and _TARGET in (signature := inspect.signature(function)).parameters
}


_PRODUCTS = frozenset({torch.mul, torch.Tensor.mul, torch.multiply, torch.Tensor.multiply})


class _Call(NamedTuple):
    """A call of a loss: from which age on its nodes were made, up to which; the age of what made its target; where."""

    began: int
    ended: int
    made: int
    raw: Raw


class Aims(TorchFunctionMode):
    """Remembers the calls of losses whose target has a graph, as has what they hold against it.

    Of calls that stand at one of `cut`, the target has none, or one factor of a product.
    """

    def __init__(self, frames: Frames, cut: Iterable[Given] = ()) -> None:
        super().__init__()
        self._frames = frames
        self._cut = {one.stack: one.factor for one in cut}
        self._found: deque[_Call] = deque(maxlen=_KEPT)

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(RuntimeError):  # a run may end inside a torch function
            super().__exit__(*error)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if (signature := _LOSSES.get(func)) is not None:
            try:
                given = signature.bind(*args, **(kwargs or {}))
            except TypeError:  # the call will say so itself
                return func(*args, **(kwargs or {}))
            return self._loss(func, given)
        if func in _PRODUCTS and self._cut:
            factor = self._cut.get(self._frames.resolve(self._frames.here()), -1)
            args = tuple(one.detach() if at == factor else one for at, one in enumerate(args))
        return func(*args, **(kwargs or {}))

    def _loss(self, func: Any, given: inspect.BoundArguments) -> Any:
        with torch._C.DisableTorchFunction():
            made = _made(given.arguments[_TARGET])
            others = {_made(value) for name, value in given.arguments.items() if name != _TARGET} - {-1, made}
        if made < 0 or not others:
            return func(*given.args, **given.kwargs)
        raw, began = self._frames.here(), graph.now()
        if self._cut and self._frames.resolve(raw) in self._cut:
            given.arguments[_TARGET] = given.arguments[_TARGET].detach()
        result = func(*given.args, **given.kwargs)
        self._found.append(_Call(began, graph.now(), made, raw))
        return result

    def among(self, edges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """Of each such call in a graph, given by its edges: what made its target, what else it takes, and its age."""
        return (one for _, one in self.placed(edges))

    def placed(self, edges: Iterable[tuple[int, int]]) -> Iterator[tuple[Raw, tuple[int, tuple[int, ...], int]]]:
        """The same, each with the place of the call."""
        known = list(self._found)
        begins, beside = [one.began for one in known], dict[_Call, list[int]]()
        aimed: dict[_Call, int] = {}
        for user, made in edges:
            at = bisect.bisect_right(begins, user) - 1
            if at < 0 or user >= known[at].ended or known[at].began <= made:
                continue
            if made == known[at].made:
                aimed[known[at]] = user
            else:
                beside.setdefault(known[at], []).append(made)
        for call, age in aimed.items():
            yield call.raw, (call.made, tuple(beside.get(call, ())), age)


def _made(value: Any) -> int:
    """The age of the node that made a tensor; -1 for what has no graph, or is a leaf."""
    node = graph.made_by(value) if isinstance(value, torch.Tensor) and torch.is_grad_enabled() else None
    return int(node._sequence_nr()) if node is not None else -1
