"""How a command speaks and acts on its report: its look, complaints, the fix that it prints or writes, its page."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from autofix import pipeline, render
from autofix.core.config import Settings
from autofix.core.model import Applicability, Fix, Outcome, Report, Target
from autofix.core.write import WriteRefused
from autofix.experiments import pictures
from autofix.experiments.client import Probe, ProbeError
from autofix.experiments.warm import start
from autofix.render import Snapshot
from autofix.render.progress import complain


def look(settings: Settings, typed: Sequence[str]) -> render.Look:
    """How a person wants it."""
    terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    wanted = not os.environ.get("NO_COLOR") and (terminal or bool(os.environ.get("FORCE_COLOR")))
    color = settings.color == "always" or (settings.color == "auto" and wanted)
    width = shutil.get_terminal_size().columns if terminal else 0
    return render.Look(terminal, color, settings.verbose, settings.quiet, tuple(typed), width)


def chosen(report: Report, settings: Settings) -> Fix | None:
    """The fix that --write would take."""
    safe = Applicability.SAFE
    return next((fix for fix in report.fixes if settings.unsafe_fixes or fix.verdict.applicability is safe), None)


def applied(report: Report, settings: Settings) -> Report:
    """Write the fix that may be written; complains where there is none."""
    try:
        done = pipeline.apply(report, unsafe=settings.unsafe_fixes)
    except WriteRefused as error:
        complain(f"nothing was written: {error}")
        return replace(report, message=str(error))
    if done.outcome is not Outcome.FIXED:
        complain("nothing was written: no fix is safe; --unsafe-fixes allows the others")
    return done


def print_diff(report: Report, settings: Settings, without: str) -> None:
    """Print the patch alone; `without` is the complaint where there is no fix at all."""
    fix = chosen(report, settings)
    if fix is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(fix.diff)
        sys.stdout.buffer.flush()
    else:
        complain("no fix is safe; --unsafe-fixes prints the others too" if report.fixes else without)


class Page:
    """The page of one command; without a name it does nothing."""

    def __init__(self, name: str | None) -> None:
        """Raises PageError or LayoutMissingError where a page could not be written under this name."""
        self._path = Path(name) if name else None
        self._pictures = pictures.Pictures()
        if self._path is not None:
            from autofix.render import report  # noqa: PLC0415  only where a page is asked for

            report.check(self._path)

    def worked(
        self,
        target: Target,
        work: Callable[[Probe | None], Report],
        progress: Callable[[str], None],
        begun: Probe | None = None,
    ) -> Report:
        """The report of some work on a probe, `begun` or started here, and the pictures that it takes for the page."""
        if self._path is None:
            return work(begun)
        try:
            with contextlib.nullcontext(begun) if begun is not None else start(target) as probe:
                report = work(probe)
                try:
                    self._pictures = pictures.taken(probe, report, progress)
                except ProbeError as error:
                    progress(f"no graph can be drawn: {error}")
        except ProbeError as error:
            return Report(target, Outcome.CANNOT_RUN, message=str(error))
        return report

    def write(self, report: Report, snapshot: Snapshot) -> str:
        """Write the page; returns what to tell about it, '' where none was asked for. Raises PageError."""
        if self._path is None:
            return ""
        if report.diagnosis is None and report.books is None:
            return f"{self._path} was not written: there is no failure of autograd to show"
        from autofix.render import report as page  # noqa: PLC0415  only where a page is asked for

        page.save(self._path, page.as_html(report, snapshot, self._pictures))
        return f"{self._path} shows {'what went wrong' if report.diagnosis else 'what the run shows of its training'}"
