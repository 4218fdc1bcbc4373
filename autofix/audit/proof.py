"""Whether an edit mends a fault and nothing else: the audit of the script beside that of the edited one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autofix.audit import told
from autofix.audit.repair import Keeps
from autofix.core.model import Suspicion
from autofix.experiments.later import line_of
from autofix.experiments.requests import line_map
from autofix.probe import wire

_CLOSE = 1e-5
_NEARLY = 1e-4
"""Of values that are computed in another way."""


@dataclass(frozen=True, slots=True)
class Audited:
    """One audited run: its trace, and what it showed."""

    trace: wire.Trace
    found: Mapping[Suspicion, wire.Fact]


class Proof:
    """Compares two audited runs; `before` and `after` are the texts of the files that an edit changes."""

    def __init__(self, before: Audited, after: Audited, files: Mapping[str, tuple[bytes, bytes]]) -> None:
        self._before, self._after = before, after
        self._lines = {name: line_map(Path(name), old, new) for name, (old, new) in files.items()}

    def doubt(self, mended: Suspicion, fact: wire.Fact, keeps: Keeps) -> str:
        """Why it is not proved that an edit mends one fault and leaves all else as it was; '' where it is."""
        before, after = self._before.trace, self._after.trace
        if not after.ended_well or after.books is None or before.books is None:
            return f"the edited script does not run: {after.detail or after.outcome}"
        if before.outcome == "finished" != after.outcome:
            return "the edited script takes longer"
        had, has = (Counter(one.code for one in run.found) for run in (self._before, self._after))
        if has[mended.code] >= had[mended.code]:
            return "the fault is still there"
        if more := has - had:
            return f"it brings {', '.join(sorted(more))}"
        doubt = self._laws(mended) or self._trainers(before.books, after.books) or self._first(keeps)
        return doubt or (self._witnessed(fact) if keeps is Keeps.WITNESSED else "")

    def _witnessed(self, fact: wire.Fact) -> str:
        """Has what a fault's place makes the value that the probe computed of what it is meant to be given?"""
        before, after = self._before.trace.books, self._after.trace.books
        assert before is not None and after is not None  # noqa: PT018, S101  as was asked
        wanted = [one.should for one in before.values if one.stack == fact.stack and one.should is not None]
        place = self._old(fact.stack)
        made = [one.size for one in after.values if self._origin(one.stack) == place]
        shown = any(math.isclose(value, size, rel_tol=_NEARLY) for value in wanted for size in made)
        return "" if shown else "nothing shows that the loss has the value that it is meant to have"

    def _laws(self, mended: Suspicion) -> str:
        """Each law that was kept is kept; the one that was broken is, unless another fault breaks it, too."""
        was, now = (told.laws(run.trace.books, list(run.found)) for run in (self._before, self._after))
        law = told.law_of(mended.code)
        lost = [name for name, state in was.items() if state == "kept" != now[name]]
        if law in told.SHOWN and now[law] == "silent":
            lost.append(law)
        return f"nothing shows that it is kept: {lost[0]}" if lost else ""

    @staticmethod
    def _trainers(before: wire.Books, after: wire.Books) -> str:
        had, has = (Counter(one.kind for one in books.trainers if one.steps) for books in (before, after))
        return "an optimizer does not step any more" if had - has else ""

    def _first(self, keeps: Keeps) -> str:
        """What happened up to the first step of all."""
        before, after = self._before.trace.books, self._after.trace.books
        assert before is not None and after is not None  # noqa: PT018, S101  as was asked
        now, more = {self._origin(one.stack): one for one in after.losses}, 0
        if not before.losses:
            return "nothing goes backward that could show it"
        if keeps is Keeps.OFTENER and sum(one.calls for one in after.losses) <= sum(one.calls for one in before.losses):
            return "no loss goes backward more often"
        for loss in before.losses:
            other = now.get(self._old(loss.stack))
            if other is None:
                if self._stands(loss.stack):
                    return "a loss does not go backward any more"
            elif loss.gradients:  # else it was first called after a step
                more += len(other.gradients) - len(loss.gradients)
                if doubt := _differs(loss, other, keeps):
                    return doubt
        return "no loss reaches more than it did" if keeps is Keeps.MORE and more <= 0 else ""

    def _old(self, stack: wire.Stack) -> tuple[tuple[str, int], ...]:
        return tuple((frame.file, frame.line) for frame in stack)

    def _origin(self, stack: wire.Stack) -> tuple[tuple[str, int], ...]:
        """A place of the edited files as that of the files it was made from."""
        return tuple((frame.file, line_of(frame, self._lines)) for frame in stack)

    def _stands(self, stack: wire.Stack) -> bool:
        """Whether the line of a place is still there."""
        lines = self._lines.get(stack[0].file) if stack else None
        return lines is None or stack[0].line in lines


def _differs(loss: wire.Loss, other: wire.Loss, keeps: Keeps) -> str:
    """In what the first call of a loss is another one than it has to be."""
    fewer = keeps is not Keeps.VALUES and len(other.gradients) < len(loss.gradients)
    if fewer or not _alive(other.gradients):
        return "a loss reaches less than it did"
    if keeps in (Keeps.WITNESSED, Keeps.OFTENER, Keeps.MORE):
        return ""
    times = other.first / loss.first if keeps is Keeps.MULTIPLE and loss.first else 1.0
    if times <= 0 or not _close((loss.first * times,), (other.first,)):
        return "a loss begins at another value"
    if keeps in (Keeps.LOSSES, Keeps.VALUES):
        return ""
    pairs = zip(loss.gradients, other.gradients, strict=False)
    same = len(loss.gradients) == len(other.gradients) and all(
        _close(tuple(times * value for value in a), b) for a, b in pairs
    )
    return "" if same else "a gradient before the first step is another one"


def _alive(gradients: tuple[tuple[float, ...], ...]) -> bool:
    norms = [sketch[0] for sketch in gradients if sketch]
    return all(map(math.isfinite, norms)) and any(norms)


def _close(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE) for a, b in zip(one, other, strict=True)
    )
