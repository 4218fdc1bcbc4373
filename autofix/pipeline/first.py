"""How a target ends as it stands: what its first run says, and by one more run why it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from autofix.core.model import Diagnosis, Outcome, Report, Target
from autofix.diagnosis.diagnose import diagnose
from autofix.experiments.client import Probe, ProbeError, run
from autofix.experiments.reproduce import exit_words, limit_words, swallowed_words
from autofix.experiments.requests import tracing
from autofix.probe import wire
from autofix.syntax.sources import Sources


class Broken(ProbeError):  # noqa: N818 - named after what happened
    """An instrument raised in the run that is to explain a failure; the text says what."""


def report(target: Target, trace: wire.Trace) -> Report:
    """What the first run of a target says of it."""
    return Report(
        target, Outcome.CLEAN, failure=trace.failure, traceback=trace.traceback, isolation=trace.isolation,
        wrote=trace.wrote, reached=trace.reached, calls=trace.backward_count, conditions=trace.notes,
    )  # fmt: skip


def outcome(trace: wire.Trace) -> Outcome | None:
    """The outcome of a target whose first run settles it, None if there is a failure to look into."""
    if trace.ended_well:
        return Outcome.CLEAN
    if trace.outcome == "failed":
        return None if trace.failure is not None else Outcome.OTHER_FAILURE
    if trace.outcome == "timed_out":  # a run that trained until then ran; of another nothing is known
        return Outcome.NO_FAILURE_WITHIN_LIMIT if trace.backward_count else Outcome.TIMED_OUT
    return Outcome(trace.outcome)


def words(ended: Outcome, target: Target, baseline: wire.Trace) -> str:
    if ended in (Outcome.NO_FAILURE_WITHIN_LIMIT, Outcome.TIMED_OUT):
        return limit_words(target, baseline)
    return exit_words(baseline) or swallowed_words(baseline)


def diagnosis(
    probe: Probe, target: Target, failed: wire.Trace, files: Mapping[Path, bytes]
) -> Diagnosis | None:  # fmt: skip
    """Why a run of the target with these files failed, by one more run; None where that cannot be told.

    Raises Broken.
    """
    asked = tracing(target, failed, files)
    trace = run(probe, asked)
    if trace.late:  # it went another way than the first run, or a mode of the script's own was in the way
        trace = run(probe, replace(asked, watch_from=0))
    if trace.failure is None:  # it ended otherwise, on a busy machine say: once more, whole and from the first line
        trace = run(probe, replace(asked, watch_from=0, watch_origins=True))
    if trace.outcome == "instrument_failed":
        raise Broken(trace.detail)
    return diagnose(failed, trace, Sources.of(target, files))
