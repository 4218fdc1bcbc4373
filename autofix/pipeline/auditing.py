"""The street of `audit`: one run, looked through for what goes wrong in its training, and what mends it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace

from autofix.audit import told
from autofix.audit.mend import Mending
from autofix.core.model import Outcome, Report, Target
from autofix.experiments.client import Probe
from autofix.experiments.reproduce import audited
from autofix.experiments.telling import RUNNING, Telling
from autofix.pipeline import first
from autofix.pipeline.offers import as_fix
from autofix.probe import wire
from autofix.syntax.sources import Sources

_LONGEST = 120
"""Characters of an exception's message in a line that is about something else."""


def looked_at(
    probe: Probe, target: Target, ignored: Sequence[str], progress: Callable[[str], None], *, mend: bool
) -> Report:  # fmt: skip
    """What one run shows of its training; with `mend`, and the edits that are proved to mend it."""
    tell = Telling(probe, progress)
    tell(RUNNING)
    runnable, trace = audited(probe, target)
    found = looked_through(runnable, trace, ignored)
    report = replace(found, torch=probe.hello().torch, timings={"script": trace.seconds})
    if not (mend and report.outcome is Outcome.CLEAN and any(one.sure for one in report.suspicions)):
        return report
    mending = Mending(probe, runnable, trace, ignored)
    proved = mending.mended(tell)
    fixes = (as_fix(runnable, *proved),) if proved is not None else ()
    return replace(report, fixes=fixes, notes=tuple(mending.notes))


def looked_through(target: Target, trace: wire.Trace, ignored: Sequence[str]) -> Report:
    ended = first.outcome(trace) or Outcome.OTHER_FAILURE
    if ended is Outcome.NO_FAILURE_WITHIN_LIMIT and trace.books is not None and trace.books.losses:
        ended = Outcome.CLEAN  # it was looked at for as long as it may run
    message = first.words(ended, target, trace)
    if trace.failure is not None:
        ends = textwrap.shorten(trace.detail, _LONGEST, placeholder=" …")
        message = f"it ends with {ends}; `autofix fix` looks for a cure of what fails in autograd"
    found = tuple(told.suspicions(trace.silent, Sources.of(target), ignored))
    return replace(first.report(target, trace), outcome=ended, message=message, suspicions=found, books=trace.books)
