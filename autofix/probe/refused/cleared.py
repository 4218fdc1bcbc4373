"""Gradients that are None where they are read: taken for zeros, or for what was there before they were cleared."""

from __future__ import annotations

import torch

from .. import wire
from ..engine import graph
from ..engine.quiet import quiet
from ..engine.taps import Call, Listener
from ..program.frames import Frames, Raw


class Cleared(Listener):
    """Knows which leaves the latest backward has left a gradient in: where one of them has none, it was cleared since.

    A leaf that this backward has not reached may have none by rights, as a head that a pass leaves out. `kept`: what
    was cleared is read as it was.
    """

    def __init__(self, frames: Frames, *, kept: bool) -> None:
        self._frames, self._kept = frames, kept
        self._reached: list[torch.Tensor] = []
        self._latest: dict[int, torch.Tensor | None] = {}
        """What the latest backward has left, by the numbers of its leaves."""
        self._read: dict[Raw, int] = {}
        self._there: set[Raw] = set()
        """Where gradients are read that are there, whoever calls it."""

    def backward(self, call: Call) -> None:
        self._reached = list(graph.leaves(graph.walk(call.roots))) if call.accumulate else []

    def backward_done(self, call: Call) -> None:
        if call.accumulate:
            self._latest = {id(one): one.grad if self._kept else None for one in self._reached}
            self._reached = []

    def there(self, place: Raw) -> None:
        """A gradient is read that is not None."""
        self._there.add(place[:1])

    def read(self, tensor: torch.Tensor, place: Raw) -> torch.Tensor:
        """What a gradient that is None stands for."""
        self._read[place] = self._read.get(place, 0) + (id(tensor) in self._latest)
        before = self._latest.get(id(tensor))
        with quiet():  # nobody uses what the tensor holds
            return torch.zeros_like(tensor) if before is None else before

    def told(self) -> dict[str, tuple[wire.Fact, ...]]:
        """How often each place has read one that was cleared, and where one was read that is there."""
        read = [self._frames.fact("cleared", raw, str(n)) for raw, n in self._read.items() if n]
        there = [self._frames.fact("gradient-there", raw) for raw in self._read if raw[:1] in self._there]
        return {"facts": (*read, *there)}
