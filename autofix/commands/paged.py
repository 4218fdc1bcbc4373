"""What `--report` adds to a command: two more runs for the drawings, and a page written at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from autofix.core.model import Outcome, Report, Target
from autofix.experiments import pictures
from autofix.experiments.client import Probe, ProbeError
from autofix.experiments.warm import start
from autofix.render import Snapshot


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
