"""Gradients that are None where they are read: taken for zeros, and told where they had been there and were cleared."""

from __future__ import annotations

import ast
from collections.abc import Callable

import torch

from .. import wire
from ..engine import graph
from ..engine.quiet import quiet
from ..engine.taps import Call, Listener
from ..program.expressions import parsed
from ..program.frames import Frames, Raw


class Cleared(Listener):
    """Knows which leaves the latest backward has left a gradient in: where one of them has none, it was cleared since.

    A leaf that this backward has not reached may have none by rights, as a head that a pass leaves out.
    """

    def __init__(self, frames: Frames, read: Callable[[str], bytes]) -> None:
        self._frames, self._file = frames, read
        self._taken: dict[int, torch.Tensor] = {}
        self._latest: set[int] = set()
        self._read: dict[Raw, int] = {}

    def backward(self, call: Call) -> None:
        if call.accumulate:
            self._latest = set(map(id, graph.leaves(graph.walk(call.roots))))

    def zeros(self, tensor: torch.Tensor, place: Raw) -> torch.Tensor:
        """What a gradient that is None stands for."""
        self._taken[id(tensor)] = tensor
        self._read[place] = self._read.get(place, 0) + (id(tensor) in self._latest)
        with quiet():  # to make them is no use of the tensor
            return torch.zeros_like(tensor)

    def again(self, tensor: torch.Tensor, place: Raw) -> bool:
        """Whether one that was taken for zeros is read for an attribute, which None has not: `p.grad.mul_(0.1)`."""
        if id(tensor) not in self._taken or not place:
            return False
        here = self._frames.resolve(place[:1])[0]
        tree = parsed(self._file(here.file))
        return tree is not None and any(
            isinstance(node, ast.Attribute) and wire.Frame.around(here.file, node.value, here.function) == here
            for node in ast.walk(tree)
        )

    def told(self) -> dict[str, tuple[wire.Fact, ...]]:
        """How often each place has read one that was cleared."""
        return {"facts": tuple(self._frames.fact("cleared", raw, str(n)) for raw, n in self._read.items() if n)}
