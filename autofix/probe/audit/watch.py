"""One audited run: arms the instruments, ends the run when enough was seen, and draws the books together at its end."""

from __future__ import annotations

import math
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any

import torch

from .. import wire
from ..engine import graph
from ..engine.names import Names
from ..engine.sums import addends
from ..engine.taps import Call, Listener, Taps
from ..instruments.guards import Guards
from ..instruments.silent import Silent
from ..instruments.terms import divisors
from ..program.frames import Frames
from . import products
from .books import Bookkeeper
from .calls import Calls
from .ledger import Ledger
from .made import Made
from .moves import Moves
from .notes import OFTEN, Notes
from .scores import loss_mark, rows
from .values import ENOUGH, Values

_PASSES = 5
"""Steps that each optimizer which steps at all shall have made before a run is cut short."""
_WATCHED = 10
"""Steps for which every torch call is looked at, at least."""
_DEAR = 0.1
"""Seconds of its own that an instrument which walks graphs may take."""
_LEAST = 12
"""Backward calls that it sees however long it takes."""
_FROM_GUARDS = {"cross-talk": "gradient-left-over", "same-loss-twice": "same-loss-twice", "growth": "graph-grows",
                "mixed": "loss-trains-two", "stale": "graph-older-than-update"}  # fmt: skip


class Audit(Listener):
    """Watches a run that is not expected to crash."""

    def __init__(self, frames: Frames, taps: Taps, budget: float, stop: Callable[[], None]) -> None:
        self._frames, self._taps, self._budget, self._stop = frames, taps, budget, stop
        self._began = 0.0
        self.notes = Notes(frames)
        self.made = Made(frames)
        self.names = Names(frames)
        self.ledger = Ledger(frames, taps, self.made)
        self.calls = Calls(frames, self.ledger, self.notes)
        self.values = Values(frames, self.ledger, self.calls, self.notes)
        self.moves = Moves(self.ledger, self.notes)
        self.silent = Silent(frames, taps)
        self.guards = Guards(frames, self.names, taps, shapes=0, growing=OFTEN)
        self._unused: dict[Any, list[int]] = {}
        self._leaving = False

    def install(self) -> None:
        """Put everything in place, before the script runs."""
        self.made.install()
        self.calls.install()
        self._taps.before_writes = []  # what a step of torch's own does is no call to be looked at
        self._taps.listeners += [self.ledger, Bounded(self.guards), self, self.calls, self.moves, self.silent]
        self.values.__enter__()

    # Passes ---------------------------------------------------------------------------------------------------------

    def backward(self, call: Call) -> None:
        self._began = self._began or time.monotonic()
        self.calls.blind = self.values.count > self.values.limit
        if not call.accumulate or self.calls.blind:
            return
        self.values.hand.backward(call)
        self.values.batch.ended()
        if math.isnan(self.ledger.losses[call.stack].last):
            self.notes.often(call.stack, "loss-is-no-number", "", call.stack)
        found: dict[Any, list[int]] = {}
        terms = list(graph.operations(addends(call.roots)))
        products.look(terms, self.notes)
        for node in terms:
            mark = loss_mark(node)
            if mark is not None:
                found.setdefault(mark[0], []).append(mark[1])
            elif (count := rows(node)) and len(call.roots) == 1:
                self.notes.note("loss-of-one-sample", str(count), call.stack)
        self.ledger.divisors[call.stack] = divisors(call.roots)
        self.values.scores.counted.update(found)
        for site, serials in found.items():
            made = self.values.scores.made.pop(site, [])
            thrown = len(made) >= OFTEN and len(serials) == 1 and serials[0] == made[-1]
            self._unused.setdefault(site, []).append(len(made) - 1 if thrown else 0)
            if len(self._unused[site]) == OFTEN and all(self._unused[site]):
                self.notes.note("last-batch-only", str(self._unused[site][0]), call.stack, site)

    def backward_done(self, call: Call) -> None:
        if call.accumulate and self.values.count <= self.values.limit:
            self.values.hand.backward_done()

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if self.ledger.owners[index].steps in (1, OFTEN):
            self._look(sys._getframe(1))

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        if self.values.count > ENOUGH and self.ledger.step_number >= _WATCHED:
            self.values.limit = 0
        self._leave()
        if not self._budget or time.monotonic() - self._began < self._budget:
            return
        stepping = [owner.steps for owner in self.ledger.owners.values() if owner.steps]
        if min(stepping) >= _PASSES:
            self._stop()

    def _leave(self) -> None:
        """Take the mode away once it looks at nothing any more, where it is the innermost one."""
        if self.values.count > self.values.limit and not self._leaving:
            stack = torch.overrides._get_current_function_mode_stack()
            if stack and stack[-1] is self.values:
                self._leaving = True
                self.values.__exit__(None, None, None)

    def _look(self, frame: Any) -> None:
        """Names for what the user's variables hold now."""
        self.names.look(frame)
        for user in self._frames.running(frame):
            for name, value in list(user.f_locals.items()):
                for inner, module in _modules(name, value):
                    self.ledger.modules.setdefault(id(module), (inner, weakref.ref(module)))

    # At the end -----------------------------------------------------------------------------------------------------

    def finish(self, *, finished: bool) -> tuple[tuple[wire.Fact, ...], wire.Books]:
        """Everything that was noted, and who trains what; `finished`: the script came to its own end."""
        with torch._C.DisableTorchFunction():
            self.values.finish()
            self.calls.finish(finished=finished)
            books = Bookkeeper(self._frames, self.ledger, self.made, self.values, self.names)
            books.conclude(self.notes, finished=finished)
            self.moves.finish(books.name, self.made.place)
        for fact in self.guards.told()["facts"]:
            if fact.name in _FROM_GUARDS:
                self.notes.keep(wire.Fact(_FROM_GUARDS[fact.name], fact.subject, fact.stack))
        for fact in self.silent.facts():
            self.notes.keep(fact)
        return self.notes.facts, books.told(self.notes.values, finished=finished)


class Bounded(Listener):
    """Hands events on to an instrument until it has taken its time."""

    def __init__(self, inner: Listener) -> None:
        self._to = inner
        self.inner = inner.inner
        self._spent = 0.0
        self._heard = 0

    def _hand(self, method: Callable[..., None], *given: Any) -> None:
        if self._spent > _DEAR and self._heard > _LEAST:
            return
        began = time.perf_counter()
        method(*given)
        self._spent += time.perf_counter() - began

    def backward(self, call: Call) -> None:
        self._heard += 1
        self._hand(self._to.backward, call)

    def backward_done(self, call: Call) -> None:
        self._hand(self._to.backward_done, call)

    def step(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._hand(self._to.step, index, optimizer)

    def step_done(self, index: int, optimizer: torch.optim.Optimizer) -> None:
        self._hand(self._to.step_done, index, optimizer)


def _modules(name: str, value: Any) -> list[tuple[str, torch.nn.Module]]:
    if isinstance(value, torch.nn.Module):
        return [(name, value)]
    if isinstance(value, (list, tuple)):
        return [(f"{name}[{n}]", item) for n, item in enumerate(value[:50]) if isinstance(item, torch.nn.Module)]
    if isinstance(value, dict):
        return [(f"{name}[{k!r}]", v) for k, v in list(value.items())[:50] if isinstance(v, torch.nn.Module)]
    held = getattr(value, "__dict__", None)
    if isinstance(held, dict) and type(value).__module__ not in ("builtins", "torch"):
        return [(f"{name}.{k}", v) for k, v in list(held.items())[:50] if isinstance(v, torch.nn.Module)]
    return []
