"""Whether an edit mends a fault and nothing else: the audit of the script beside that of the edited one."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autofix.audit import told
from autofix.audit.repair import Keeps
from autofix.experiments.requests import line_map

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autofix.core.model import Suspicion
    from autofix.probe import wire

_CLOSE = 1e-5


@dataclass(frozen=True, slots=True)
class Audited:
    """One audited run: its trace, and what it showed."""

    trace: wire.Trace
    found: Mapping[Suspicion, wire.Fact]


class Proof:
    """Compares two audited runs; `before` and `after` are the texts of the files that an edit changes."""

    def __init__(self, before: Audited, after: Audited, files: Mapping[str, tuple[bytes, bytes]]) -> None:
        self._before, self._after = before, after
        self._lines = {name: line_map(old, new) for name, (old, new) in files.items()}

    def doubt(self, mended: Suspicion, keeps: Keeps) -> str:
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
        return self._laws(mended) or self._trainers(before.books, after.books) or self._first(keeps)

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
        now = {self._origin(one.stack): one for one in after.losses}
        for loss in before.losses:
            other = now.get(self._old(loss.stack))
            if other is None:
                if self._stands(loss.stack):
                    return "a loss does not go backward any more"
                continue
            if not loss.gradients:  # first called after a step
                continue
            if len(other.gradients) < len(loss.gradients) or not _alive(other.gradients):
                return "a loss reaches less than it did"
            if keeps is not Keeps.REACHED and not _close((loss.first,), (other.first,)):
                return "a loss begins at another value"
            pairs = zip(loss.gradients, other.gradients, strict=keeps is Keeps.GRADIENTS)
            if keeps is Keeps.GRADIENTS and not all(_close(a, b) for a, b in pairs):
                return "a gradient before the first step is another one"
        return ""

    def _old(self, stack: wire.Stack) -> tuple[tuple[str, int], ...]:
        return tuple((frame.file, frame.line) for frame in stack)

    def _origin(self, stack: wire.Stack) -> tuple[tuple[str, int], ...]:
        """A place of the edited files as that of the files it was made from."""
        return tuple((frame.file, self._line(frame)) for frame in stack)

    def _line(self, frame: wire.Frame) -> int:
        lines = self._lines.get(frame.file, ())
        return lines[frame.line - 1] if 0 < frame.line <= len(lines) else frame.line

    def _stands(self, stack: wire.Stack) -> bool:
        """Whether the line of a place is still there."""
        lines = self._lines.get(stack[0].file) if stack else None
        return lines is None or stack[0].line in lines


def _alive(gradients: tuple[tuple[float, ...], ...]) -> bool:
    norms = [sketch[0] for sketch in gradients if sketch]
    return all(map(math.isfinite, norms)) and any(norms)


def _close(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE) for a, b in zip(one, other, strict=True)
    )
