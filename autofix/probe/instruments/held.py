"""What other state than parameters held, one value after another: a write that is taken back shows nowhere else."""

from __future__ import annotations

from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.taps import Listener, Taps
from .witness import Witness

_MOST = 1 << 27
"""Numbers that are looked at in all: enough for a large model over some passes."""
_LONGEST = 400


class HeldStates(Listener):
    """Looks at each step at what the user's variables hold; keeps what differs from the value before, as sketches."""

    def __init__(self, taps: Taps, names: Names, witness: Witness) -> None:
        self._taps, self._names, self._witness = taps, names, witness
        self._left = _MOST
        self._states: dict[str, list[tuple[float, ...]]] = {}

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        kept = self._names.kept(set().union(*self._taps.owned))
        states = {name: tensor for name, tensor in kept.items() if graph.is_leaf(tensor)}
        self._left -= sum(tensor.numel() for tensor in states.values())
        if self._left <= 0:
            return
        for name, sketch in zip(states, self._witness.sketch_all(list(states.values())), strict=True):
            values = self._states.setdefault(name, [])
            if len(values) < _LONGEST and (not values or values[-1] != sketch):
                values.append(sketch)

    def told(self) -> dict[str, Any]:
        """The values of each tensor, by its name."""
        return {"held": tuple(wire.Held(name, tuple(values)) for name, values in self._states.items())}
