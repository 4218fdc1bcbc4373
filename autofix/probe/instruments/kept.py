"""Graphs that are kept behind a cut: what goes through `.detach()` has a graph that grows from pass to pass."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import torch

from ..engine import graph
from ..engine.taps import Call, Listener
from ..program.frames import Frames, Raw

_OFTEN = 3
"""How many times in a row a graph must have grown."""


@dataclass(slots=True)
class _Cut:
    """A place of a cut: after which backward it was seen, how many older nodes it had, how often in a row they grew."""

    after: int = -1
    older: int = 0
    grown: int = 0


class KeptGraphs(Listener):
    """Looks, once between two backward calls, at how much of earlier passes the graph behind each cut holds.

    No backward comes there to be seen, and nothing frees it: a moving average whose loss uses it detached keeps the
    graphs of all passes, unless it is cut where it is stored.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._calls = 0
        self._mark = 0
        self._cuts: dict[Raw, _Cut] = {}
        plain = torch.Tensor.detach

        def detach(tensor: torch.Tensor) -> torch.Tensor:
            if (node := graph.made_by(tensor)) is not None and frames.owns(
                sys._getframe(1).f_code
            ):  # not what torch or we cut
                self._look(node)
            return plain(tensor)

        torch.Tensor.detach = detach

    def backward_done(self, call: Call) -> None:
        if call.outer is None:
            self._calls += 1
            self._mark = graph.now()

    def told(self) -> dict[str, Any]:
        """The cuts behind which a graph grew until the end."""
        grown = ((stack, cut) for stack, cut in self._cuts.items() if cut.grown >= _OFTEN)
        return {"facts": tuple(self._frames.fact("kept-growth", s, str(n.older)) for s, n in grown)}

    def _look(self, node: Any) -> None:
        stack = self._frames.here()
        cut = self._cuts.setdefault(stack, _Cut()) if stack else _Cut(self._calls)
        if cut.after == self._calls:
            return
        older = sum(age < self._mark for age in graph.ages(graph.walk_nodes([node])))
        cut.after, cut.older, cut.grown = self._calls, older, cut.grown + 1 if older > cut.older else 0
