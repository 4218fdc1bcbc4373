"""What networks are fed with, pass by pass: anew and yet the same?"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any

import torch

from ..engine.remembered import Remembered
from ..program.frames import Frames, Raw
from .calls import Calls, fingerprint
from .notes import Notes

_INDICES = frozenset({"randperm", "randint", "multinomial"})
DRAWS = _INDICES | {"randn", "rand", "randn_like", "rand_like", "normal", "bernoulli"}
"""Calls that draw random numbers."""
_MOST = 24
LAYERS = frozenset({"linear", "conv1d", "conv2d", "conv3d", "embedding", "matmul", "__matmul__", "addmm", "mm"})
"""Calls by which data enters a network."""
_MANY = 3


@dataclass(slots=True)
class _Fed:
    """What one place of a layer was fed with, pass by pass."""

    prints: list[tuple[Any, ...]] = field(default_factory=list)
    latest: Any = None
    anew: int = 0
    chosen: Raw = ()
    """Where the rows were drawn that it was."""


class Draws:
    """Compares what each layer that data enters is given in the first passes."""

    def __init__(self, frames: Frames, calls: Calls, notes: Notes) -> None:
        self._frames, self._calls, self._notes = frames, calls, notes
        self._fed: dict[Raw, _Fed] = {}
        self._drawn: dict[Raw, list[tuple[Any, ...]]] = {}
        self._indices = Remembered["Raw"]()
        self._rows = Remembered["Raw"]()

    def drawn(self, name: str, result: Any) -> None:
        """Numbers were drawn; whether they repeat is asked where somebody seeds between passes."""
        if not isinstance(result, torch.Tensor) or not torch.is_grad_enabled():
            return
        here = self._frames.here()
        if name in _INDICES:
            self._indices.keep(result, here)
        elif self._calls.seeds and result.numel() >= _MANY and len(prints := self._drawn.setdefault(here, [])) < _MOST:
            prints.append(fingerprint(result))

    def chosen(self, name: str, args: Any, result: torch.Tensor) -> None:
        """Rows were taken of a tensor: by indices that were drawn?"""
        if name != "__getitem__" or not self._indices:
            return
        if (place := self._indices.of(args[0])) is not None:
            self._indices.keep(result, place)
        elif (place := self._indices.of(args[1])) is not None and result.shape[:1] < args[0].shape[:1]:
            self._rows.keep(result, place)

    def fed(self, given: list[torch.Tensor]) -> None:
        """What a pass is fed with: the first operand without a graph of a layer that has one."""
        if len(given) < 2 or not torch.is_grad_enabled() or given[0].requires_grad or not given[1].requires_grad:  # noqa: PLR2004
            return
        fed = self._fed.setdefault(self._frames.here(), _Fed())
        if len(fed.prints) > 2 * _MANY:
            return
        before = fed.latest() if fed.latest is not None else None
        fed.anew += before is not given[0] and (before is None or before.data_ptr() != given[0].data_ptr())
        fed.chosen = self._rows.of(given[0]) or ()
        fed.latest = weakref.ref(given[0])
        fed.prints.append(fingerprint(given[0]))

    def finish(self) -> None:
        """Note what only several passes together can tell."""
        known = [fed.prints for fed in self._fed.values() if len(fed.prints) > _MANY]
        varies = any(len(set(prints)) > 1 for prints in known)  # then what is the same may be positions
        for place, fed in self._fed.items() if not varies else ():
            same = len(fed.prints) > _MANY and len(set(fed.prints)) == 1
            if not same or fed.anew < _MANY:
                continue
            seeds = [stack for (stack, _), count in self._calls.seeds.items() if count >= _MANY]
            loaders = [stack for stack, count in self._calls.loaders.items() if count >= _MANY]
            if seeds or loaders:
                self._notes.note("same-batch", "seed" if seeds else "loader", (seeds or loaders)[-1], place)
            elif fed.chosen:
                self._notes.note("same-rows", "", fed.chosen, place)
        for place, prints in self._drawn.items():
            if self._notes.has("same-batch"):
                return
            if len(prints) > _MANY and len(set(prints)) * 2 <= len(prints):
                seeds = [stack for (stack, _), count in self._calls.seeds.items() if count >= _MANY]
                self._notes.note("same-draw", "", *seeds[-1:], place)
