"""Whether steps move anything: parameters that stay as they were, and optimizers that are forgotten after one step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch

from ..engine.names import listed
from ..engine.quiet import quiet
from ..engine.taps import Listener, parameters
from ..program.frames import Raw
from .ledger import WALKED, Ledger
from .notes import Notes

_ENOUGH = 5
"""Steps in a row that move nothing before it is no accident: a scaler skips some, a schedule begins at a rate of 0."""
_CORNER = 4
_MOST = 200
_ROUNDING = 1e-5
"""A gradient below this share of the largest is rounding, as of a bias before a batch norm."""
_NOTHING = 1e-7
"""A change below this share of the largest weight is lost in single precision."""


@dataclass(slots=True)
class _Before:
    """An optimizer's parameters before a step: of each that has a gradient a few numbers."""

    index: int
    values: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)


class Moves(Listener):
    """Compares a few numbers of each parameter before and after the first steps of each optimizer."""

    def __init__(self, ledger: Ledger, notes: Notes) -> None:
        self._ledger, self._notes = ledger, notes
        self._before: _Before | None = None
        self._moved: dict[int, dict[int, list[bool]]] = {}
        self._left: dict[int, list[float]] = {}
        """What the first parameter of each optimizer held when the optimizer was made, and after its latest step."""
        self._begun: dict[int, list[float]] = {}
        self._alike: dict[int, tuple[torch.Tensor, int]] = {}
        """Parameters whose rows were all alike at every step so far, as were their gradients; and at how many."""

    def optimizer_made(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._begun[index] = _first(optimizer)

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        owner = self._ledger.owners[index]
        if owner.looked <= WALKED:
            with quiet():
                told = [p for p in parameters(optimizer)[:_MOST] if p.grad is not None and not p.grad.is_sparse]
                sizes = [float(_corner(p.grad).abs().max()) if p.numel() else 0.0 for p in told]
                least = _ROUNDING * max(sizes, default=0.0)
                pairs = [(p, _corner(p).clone()) for p, size in zip(told, sizes, strict=True) if size > least]
                for parameter, _ in pairs:
                    self._compare_rows(parameter, first=owner.looked == 1)
            self._before = _Before(index, pairs)

    def _compare_rows(self, parameter: Any, *, first: bool) -> None:
        """Units of one layer that are copies of each other stay so where their gradients are the same."""
        count = self._alike.pop(id(parameter), (parameter, 0 if first else -1))[1]
        several = count >= 0 and parameter.dim() > 1 and parameter.shape[0] > 1
        if several and all(bool((one == one[:1]).all()) for one in (parameter.detach(), parameter.grad)):
            self._alike[id(parameter)] = parameter, count + 1

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        before, self._before = self._before, None
        if before is None or before.index != index:
            return
        moved = self._moved.setdefault(index, {})
        with quiet():
            for parameter, values in before.values:
                largest = max(float(values.abs().max()), torch.finfo(values.dtype).tiny)
                change = float((_corner(parameter) - values).abs().max())
                moved.setdefault(id(parameter), []).append(not change <= _NOTHING * largest)
            self._left[index] = _first(optimizer)

    def finish(self, name: Callable[[torch.Tensor], str], place: Callable[[torch.Tensor], Raw]) -> None:
        """Note the parameters that no step moves, or none any more, and the optimizers that make one step each."""
        for index, moved in self._moved.items():
            owner = self._ledger.owners[index]
            still = {key for key, seen in moved.items() if len(seen) >= _ENOUGH and not any(seen[-_ENOUGH:])}
            names = [name(p) for p in parameters(owner.optimizer) if id(p) in still]
            if names:
                since = "" if any(any(moved[key]) for key in still) else "never"
                self._notes.note("steps-move-nothing", f"{since}:{listed(names)}", owner.site, owner.made)
            alike = [p for p in parameters(owner.optimizer) if self._alike.get(id(p), (p, 0))[1] >= _ENOUGH]
            if alike:
                self._notes.note("units-alike", listed(list(map(name, alike))), place(alike[0]), owner.site)
        self._made_anew()

    def _made_anew(self) -> None:
        places: dict[Raw, list[int]] = {}
        for index, owner in self._ledger.owners.items():
            lbfgs = isinstance(owner.optimizer, torch.optim.LBFGS)
            if owner.made and owner.steps and owner.optimizer.state and not lbfgs:
                places.setdefault(owner.made, []).append(index)
        for place, indices in places.items():
            pairs = list(pairwise(indices))
            goes_on = [b for a, b in pairs if self._owns_same(a, b) and self._left.get(a) == self._begun.get(b)]
            each = all(self._ledger.owners[index].steps == 1 for index in indices)
            if len(goes_on) >= (_ENOUGH if each else 2) and len(goes_on) == len(pairs):
                name = "optimizer-made-anew" if each else "optimizer-made-anew-at-times"
                self._notes.note(name, "", place, self._ledger.owners[indices[0]].site)

    def _owns_same(self, a: int, b: int) -> bool:
        one, other = (parameters(self._ledger.owners[index].optimizer) for index in (a, b))
        return bool(one) and list(map(id, one)) == list(map(id, other))


def _corner(tensor: Any) -> torch.Tensor:
    """A few numbers of a tensor, without a copy of it."""
    corner: torch.Tensor = tensor.detach()[tuple(slice(0, _CORNER) for _ in range(tensor.dim()))]
    return corner


def _first(optimizer: torch.optim.Optimizer) -> list[float]:
    given = parameters(optimizer)
    with quiet():
        values: list[float] = _corner(given[0]).reshape(-1).tolist() if given and given[0].numel() else []
    return values
