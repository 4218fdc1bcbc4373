"""Averages of weights and writes to networks that no optimizer owns: do they move anything? And writes to gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from ..engine import graph
from ..engine.remembered import Remembered
from ..program.frames import Frames, Raw
from .calls import Calls, fingerprint
from .ledger import Ledger
from .notes import Notes

_AVERAGE = frozenset({"add", "__add__", "__radd__", "lerp"})
_MIXES = frozenset({"add_", "lerp_", "__iadd__"})
_CLAMPS = frozenset({"clamp_", "clip_", "clamp_max_"})
_SCALES = frozenset({"mul_", "div_", "__imul__", "__itruediv__"})
_CLOSE = 1e-6
_MANY = 3


@dataclass(slots=True)
class _Written:
    """One place that averages or writes a parameter that no optimizer owns."""

    target: torch.Tensor
    source: torch.Tensor | None
    before: tuple[Any, ...]
    source_before: tuple[Any, ...] = ()
    count: int = 0


class Averages:
    """Knows parameters by their memory, whatever alias is used."""

    def __init__(self, frames: Frames, ledger: Ledger, calls: Calls, notes: Notes) -> None:
        self._frames, self._ledger, self._calls, self._notes = frames, ledger, calls, notes
        self._from = Remembered[frozenset[int]]()
        self._pointers: dict[int, torch.Tensor] = {}
        self._pointers_at = -1
        self._alone = Remembered[bool]()
        """Sums of which both terms are made of one parameter that no optimizer owns."""
        self._itself: dict[Raw, tuple[int, Raw]] = {}
        self._averages: dict[Raw, _Written] = {}
        self._writes: dict[Raw, _Written] = {}

    def _parameter(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The parameter whose memory a tensor is, if it is one's whole memory."""
        if self._pointers_at != self._ledger.step_number and (self._pointers_at < _MANY or not self._pointers):
            self._pointers_at = self._ledger.step_number
            self._pointers = {p.data_ptr(): p for p in self._ledger.known_parameters() if p.numel()}
        found = self._pointers.get(tensor.data_ptr())
        return found if found is not None and found.shape == tensor.shape else None

    def _origins(self, tensor: torch.Tensor) -> frozenset[int]:
        """The parameters that a tensor was made of, or is; none where that is not known."""
        known = self._from.of(tensor)
        if known is None and (parameter := self._parameter(tensor)) is not None:
            known = frozenset({id(parameter)})
        return known or frozenset()

    def average(self, name: str, given: list[torch.Tensor], result: torch.Tensor) -> None:
        """A result made of a parameter that is owned and of one that is not."""
        found = [self._origins(tensor) for tensor in given]
        origins = frozenset().union(*found)
        if origins:
            self._from.keep(result, origins)
        alone = len(origins) == 1 and len(given) == 2 and origins.isdisjoint(self._ledger.owned())  # noqa: PLR2004
        if alone and all(found) and name in _AVERAGE:
            self._alone.keep(result, True)
        if len(origins) != 2 or name not in _AVERAGE:  # noqa: PLR2004  a teacher's and a student's
            return
        pair = [p for p in self._pointers.values() if id(p) in origins and p.shape == result.shape]
        owned = self._ledger.owned()
        teachers = [p for p in pair if id(p) not in owned]
        if len(pair) != 2 or len(teachers) != 1:  # noqa: PLR2004
            return
        student = next(p for p in pair if p is not teachers[0])
        here = self._frames.here()
        seen = self._averages.get(here)
        if seen is None:
            seen = self._averages[here] = _Written(
                teachers[0], student, fingerprint(teachers[0]), fingerprint(student)
            )  # fmt: skip
        seen.count += seen.target is teachers[0]

    def write(self, name: str, args: Any) -> None:
        """Before a write: to what, and whether it could change anything."""
        target = args[0] if args else None
        if not isinstance(target, torch.Tensor):
            return
        if name in _CLAMPS or name in _SCALES:
            self._bounded(name, target, args)
        if not self._ledger.step_number or not graph.is_leaf(target):
            return
        parameter = self._parameter(target)
        if parameter is None:
            return
        source = args[1] if len(args) > 1 else None
        itself = isinstance(source, torch.Tensor) and source.data_ptr() == target.data_ptr()
        if itself and name == "copy_" and not self._calls.loading:
            self._notes.note("state-loaded-onto-itself", "", self._frames.here())
        elif (itself and name in _MIXES) or source in self._alone:
            self._of_itself(target)
        if id(parameter) not in self._ledger.owned():
            here = self._frames.here()
            seen = self._writes.setdefault(here, _Written(parameter, None, fingerprint(parameter)))
            seen.count += seen.target is parameter

    def _of_itself(self, target: torch.Tensor) -> None:
        here = self._frames.here()
        count, _ = self._itself.get(here, (0, ()))
        self._itself[here] = count + 1, self._calls.age(target)[1]

    def _bounded(self, name: str, target: torch.Tensor, args: Any) -> None:
        """A write to a gradient: it is clipped, or divided by the number of micro-batches once more."""
        mine = next(
            (p for p in self._ledger.owned_tensors() if p.grad is not None and p.grad.data_ptr() == target.data_ptr()),
            None,
        )
        if mine is None:
            return
        if name in _CLAMPS:
            self._calls.clipped([mine])
            return
        by = args[1] if len(args) > 1 else None
        if isinstance(by, (int, float)) and by:
            self._divided(mine, float(by) if name in ("div_", "__itruediv__") else 1 / float(by))

    def _divided(self, parameter: torch.Tensor, by: float) -> None:
        """A gradient is divided: by how many losses it is the sum of, although each of them was divided already?"""
        site = self._ledger.fresh.get(id(parameter))
        divisors = self._ledger.divisors.get(site or (), ())
        count = self._ledger.waiting(parameter)
        if count > 1 and abs(by - count) < _CLOSE and any(abs(d - count) < _CLOSE for d in divisors):
            self._notes.note("divided-twice", str(count), self._frames.here(), site or ())

    def written_at(self, tensors: list[torch.Tensor]) -> Raw:
        """Where one of these, which no optimizer owns, was written by hand."""
        keys = set(map(id, tensors))
        return next((place for place, seen in self._writes.items() if id(seen.target) in keys), ())

    def finish(self) -> None:
        """Note what only several passes together can tell."""
        for place, seen in self._averages.items():
            moved = seen.source is not None and fingerprint(seen.source) != seen.source_before
            if seen.count >= _MANY and moved and fingerprint(seen.target) == seen.before:
                self._notes.note("average-never-written", "", place)
        for place, (count, taken) in self._itself.items():
            if count >= _MANY:
                self._notes.note("average-of-itself", "", taken or place, place)
        for place, seen in self._writes.items():
            if seen.count >= _MANY and fingerprint(seen.target) == seen.before:
                self._notes.note("writes-change-nothing", "", place)
