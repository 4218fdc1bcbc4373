"""Schedules of learning rates: which optimizer each is of, how often it stepped, and by what it counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from ..program.frames import Frames, Raw
from .ledger import Ledger
from .notes import OFTEN, Notes

Wrap = Callable[[Any, str, Callable[..., Any]], None]


@dataclass(slots=True)
class _Schedule:
    made: Raw
    scheduler: Any
    steps: int = 0
    sites: dict[Raw, None] = field(default_factory=dict)
    counts: int = 0
    """How often it was given the number of its step in place of a figure to improve."""


class Schedules:
    """Follows each scheduler from where it is made."""

    def __init__(self, frames: Frames, ledger: Ledger, notes: Notes) -> None:
        self._frames, self._ledger, self._notes = frames, ledger, notes
        self._schedules: dict[int, _Schedule] = {}
        self._making = False

    def install(self, wrap: Wrap) -> None:
        """Have each made and each stepped heard."""
        space: Any = torch.optim.lr_scheduler
        kinds = [kind for kind in vars(space).values() if isinstance(kind, type) and "step" in vars(kind)]

        def made(scheduler: Any, *_: Any, **__: Any) -> Any:
            self._making = True
            place = self._frames.here()

            def done(_: Any) -> None:
                self._making = False
                self._schedules[id(scheduler)] = _Schedule(place, scheduler)

            return done

        def stepped(scheduler: Any, *given: Any, **__: Any) -> None:
            known = self._schedules.get(id(scheduler))
            if known is not None and not self._making:
                plateau = isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau)
                known.counts += plateau and given[:1] in ((known.steps,), (known.steps + 1,))
                known.steps += 1
                if known.steps <= OFTEN:
                    known.sites[self._frames.here()] = None

        for kind in dict.fromkeys(kinds):
            wrap(kind, "step", stepped)
        for kind in {kind for kind in vars(space).values() if isinstance(kind, type) and "__init__" in vars(kind)}:
            if hasattr(kind, "step"):
                wrap(kind, "__init__", made)

    def finish(self, *, finished: bool) -> None:
        """Note what only the whole run can tell; `finished`: the script came to its own end."""
        by_optimizer = {id(owner.optimizer): owner for owner in self._ledger.owners.values()}
        inner = {id(one) for known in self._schedules.values() for one in getattr(known.scheduler, "_schedulers", ())}
        for key, known in self._schedules.items():
            if key in inner:
                continue
            owner = by_optimizer.get(id(getattr(known.scheduler, "optimizer", None)))
            site = next(iter(known.sites), ())
            if owner is None or not owner.steps:
                others = [one for one in self._ledger.owners.values() if one.steps >= OFTEN]
                if known.steps > 1 and others:
                    self._notes.note("schedule-of-other-optimizer", "", known.made, site, others[0].made)
                continue
            if finished and owner.steps >= OFTEN and not known.steps:
                self._notes.note("schedule-never-stepped", type(known.scheduler).__name__, known.made)
            if OFTEN <= known.counts == known.steps:
                self._notes.note("schedule-of-counts", "", site, known.made)
            past = getattr(known.scheduler, "T_max", None)
            if isinstance(past, int) and known.steps > 2 * past > 0:
                self._notes.note("schedule-past-its-end", f"{known.steps} of {past}", site, known.made)
            total = getattr(known.scheduler, "total_steps", None)
            if finished and isinstance(total, int) and known.steps * 2 <= total <= owner.steps * 1.2:
                self._notes.note("schedule-in-wrong-loop", f"{known.steps} of {total}", site, known.made)
