"""What parameters and other state held, one value after another: a write that is taken back shows nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import wire
from .taps import Call, Listener, Taps, parameters

if TYPE_CHECKING:
    import torch

    from .names import Names
    from .witness import Witness

_MOST = 1 << 27
"""Numbers that are looked at in all: enough for a large model over some passes."""
_LONGEST = 400


class Held(Listener):
    """Looks at each backward call and around each step; keeps what differs from the value before, as sketches."""

    def __init__(self, taps: Taps, names: Names, witness: Witness) -> None:
        self._taps = taps
        self._names = names
        self._witness = witness
        self._left = _MOST
        self._parameters: dict[int, list[tuple[float, ...]]] = {}
        self._states: dict[str, list[tuple[float, ...]]] = {}

    def backward(self, call: Call) -> None:
        if call.accumulate:
            self._look(self._owned())

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        owned = self._owned()
        self._look(owned)
        states = {n: t for n, t in self._names.kept({id(p) for p in owned}).items() if t.grad_fn is None}
        for name, sketch in zip(states, self._sketched(list(states.values())), strict=False):
            _keep(self._states.setdefault(name, []), sketch)

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._look(self._owned())

    def _owned(self) -> list[torch.Tensor]:
        return [parameter for optimizer in self._taps.optimizers for parameter in parameters(optimizer)]

    def _look(self, owned: list[torch.Tensor]) -> None:
        for parameter, sketch in zip(owned, self._sketched(owned), strict=False):
            _keep(self._parameters.setdefault(id(parameter), []), sketch)

    def _sketched(self, tensors: list[torch.Tensor]) -> tuple[tuple[float, ...], ...]:
        self._left -= sum(tensor.numel() for tensor in tensors)
        return self._witness.sketch_all(tensors) if self._left > 0 else ()

    def told(self) -> tuple[wire.Held, ...]:
        """Of each optimizer's parameters, in their order and without a name; then of other state, by its name."""
        mine = [wire.Held("", tuple(self._parameters.get(id(p), ()))) for p in self._owned()]
        return (*mine, *(wire.Held(name, tuple(values)) for name, values in self._states.items()))


def _keep(values: list[tuple[float, ...]], sketch: tuple[float, ...]) -> None:
    if len(values) < _LONGEST and (not values or values[-1] != sketch):
        values.append(sketch)
