"""What losses of torch are given as their target, by the names of their own parameters: seen, or cut where asked."""

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
    from collections.abc import Collection, Iterable

    from ..program.frames import Frames, Raw
    from ..wire import Stack

_KEPT = 20_000
_TARGET = "target"
_LOSSES = {
    function: signature
    for function in vars(F).values()
    if inspect.isfunction(function) and _TARGET in (signature := inspect.signature(function)).parameters
}


class Aim(NamedTuple):
    """A call of a loss: from which age on its nodes were made, up to which, the age of what made its target; where."""

    began: int
    ended: int
    made: int
    raw: Raw


class Aims(TorchFunctionMode):
    """Remembers the calls of losses whose target has a graph, as has what they hold against it.

    Where a call stands at one of `cut`, its target has none.
    """

    def __init__(self, frames: Frames, cut: Collection[Stack] = ()) -> None:
        super().__init__()
        self._frames, self._cut = frames, cut
        self._found: deque[Aim] = deque(maxlen=_KEPT)

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(RuntimeError):  # a run may end inside a torch function
            super().__exit__(*error)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        signature = _LOSSES.get(func)
        if signature is None:
            return func(*args, **(kwargs or {}))
        try:
            given = signature.bind(*args, **(kwargs or {}))
        except TypeError:  # the call will say so itself
            return func(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunction():
            made = _made(given.arguments[_TARGET])
            others = {_made(value) for name, value in given.arguments.items() if name != _TARGET} - {-1}
        if made == -1 or not others - {made}:
            return func(*args, **(kwargs or {}))
        raw, began = self._frames.here(), graph.now()
        if self._cut and self._frames.resolve(raw) in self._cut:
            given.arguments[_TARGET] = given.arguments[_TARGET].detach()
        result = func(*given.args, **given.kwargs)
        self._found.append(Aim(began, graph.now(), made, raw))
        return result

    def between(self, edges: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Raw]:
        """Those edges of a graph, given by their ages, that lead from a loss to its target; and where that loss is."""
        known, found = list(self._found), {}
        begins = [one.began for one in known]
        for user, made in edges:
            at = bisect.bisect_right(begins, user) - 1
            if at >= 0 and user < known[at].ended and made == known[at].made:
                found[user, made] = known[at].raw
        return found


def _made(value: Any) -> int:
    """The age of the node that made a tensor; -1 for what has no graph, or is a leaf."""
    node = graph.made_by(value) if isinstance(value, torch.Tensor) and torch.is_grad_enabled() else None
    return int(node._sequence_nr()) if node is not None else -1
