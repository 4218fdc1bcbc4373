"""Gradients that are None where they are read: taken for zeros, and told where they had been there and were cleared."""

from __future__ import annotations

import torch

from .. import wire
from ..engine import graph
from ..engine.taps import Call, Listener
from ..program.frames import Frames, Raw


class Cleared(Listener):
    """Knows which leaves the latest backward has left a gradient in: where one of them has none, it was cleared since.

    A leaf that this backward has not reached may have none by rights, as a head that a pass leaves out.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._latest: set[int] = set()
        self._read: dict[Raw, int] = {}

    def backward(self, call: Call) -> None:
        if call.accumulate:
            self._latest = set(map(id, graph.leaves(graph.walk(call.roots))))

    def zeros(self, tensor: torch.Tensor, place: Raw) -> torch.Tensor:
        """What a gradient that is None stands for."""
        self._read[place] = self._read.get(place, 0) + (id(tensor) in self._latest)
        return torch.zeros_like(tensor)

    def told(self) -> dict[str, tuple[wire.Fact, ...]]:
        """How often each place has read one that was cleared."""
        return {"facts": tuple(self._frames.fact("cleared", raw, str(n)) for raw, n in self._read.items() if n)}
