"""Tells how a batch goes, on standard error: bars where someone watches, else a line for each event, or nothing."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from autofix.batch.records import Found, Result
from autofix.batch.results import counted, group
from autofix.core.model import Outcome
from autofix.render.words import effect_name, one_line

_UNTOLD = {Outcome.CANNOT_RUN, Outcome.OTHER_FAILURE, Outcome.CRASHED, Outcome.INSTRUMENT_FAILED}
"""Outcomes that say nothing without their reason."""
_REMEMBERED = 900.0
"""Seconds of the past that the time left is estimated from: targets take from a blink to many minutes."""


class Progress:
    """What the driver tells; this one says nothing of it. Use as a context manager."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def found(self, name: str, found: Found, held: Sequence[str], /) -> None:
        """A repository was looked at; `held` are the groups of the results that it has already."""

    def settled(self, name: str, held: Sequence[str], /) -> None:
        """A repository needs nothing."""

    def result(self, name: str, result: Result, /) -> None:
        """One target is done."""

    def finished(self, name: str, /) -> None:
        """The last target of a repository is done."""


class Lines(Progress):
    """One line for each event, for logs."""

    def found(self, name: str, found: Found, held: Sequence[str], /) -> None:
        count = len(found.entries)
        said = found.problem or found.message or f"{count} target{'' if count == 1 else 's'}"
        _say(f"{name}: {said}{f', {len(held)} done before' if held else ''}")

    def settled(self, name: str, held: Sequence[str], /) -> None:
        _say(f"{name}: done before ({len(held)})")

    def result(self, name: str, result: Result, /) -> None:
        aside = f" ({result.applicability}; {effect_name(result.effect)})" if result.title else ""
        reason = f": {result.message}" if result.outcome in _UNTOLD else ""
        ran = f" (as {result.ran})" if result.ran else ""
        _say(f"{name}: {result.command}{ran}: {result.outcome}{aside}, {result.seconds:.1f} s{reason}")


class Live(Progress):
    """Two bars and the counts so far."""

    def __init__(self, repositories: int) -> None:
        console = Console(stderr=True, highlight=False, markup=False)
        self._bars = Bars(
            TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("left"), TimeRemainingColumn(), console=console,
            speed_estimate_period=_REMEMBERED,
        )  # fmt: skip
        self._repositories = self._bars.add_task("repositories", total=repositories)
        self._targets = self._bars.add_task("targets", total=0)
        self._counts: Counter[str] = Counter()
        self._seen = 0
        self._expected = 0
        self._all = repositories

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def found(self, _name: str, found: Found, held: Sequence[str], /) -> None:
        self._more(len(found.entries), held)

    def settled(self, _name: str, held: Sequence[str], /) -> None:
        self._more(len(held), held)
        self._bars.advance(self._repositories)

    def result(self, _name: str, result: Result, /) -> None:
        self._counts[group(result, Outcome(result.outcome))] += 1
        self._bars.advance(self._targets)
        self._bars.update(self._targets, description=f"targets ({counted(self._counts)})")

    def finished(self, _name: str, /) -> None:
        self._bars.advance(self._repositories)

    def _more(self, targets: int, held: Sequence[str]) -> None:
        """Know of more targets; what repositories not looked at yet will bring is guessed from those seen."""
        self._seen += 1
        self._expected += targets
        self._counts.update(held)
        self._bars.update(self._targets, total=round(self._expected * self._all / self._seen))
        self._bars.advance(self._targets, len(held))


def _say(text: str) -> None:
    sys.stderr.write(f"{one_line(text)}\n")
    sys.stderr.flush()


def progress(repositories: int, *, quiet: bool) -> Progress:
    """The kind that fits where standard error goes."""
    if quiet:
        return Progress()
    return Live(repositories) if sys.stderr.isatty() else Lines()
