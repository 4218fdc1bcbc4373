"""A network that reads what it gave in the pass before: is that its input, or was the input to stay?"""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Answer, Assessment, Question, Reading
from autofix.experiments.compare import comparable
from autofix.probe import wire
from autofix.verdict.left_open.told import told_as
from autofix.verdict.runs import Runs

OWN_OUTPUT = "own-output-read"


def seen(runs: Runs) -> wire.Fact | None:
    """Where each pass but the first reads nothing but what the pass before gave; None where that was not seen."""
    handed_on = runs.letter.carried and not runs.letter.reused
    return next(iter(runs.sourced.seen(OWN_OUTPUT)), None) if handed_on else None


def kept(runs: Runs) -> Reading | None:
    """The reading in which the input stays, where the code can be written so and the output is read in its place."""
    reading = replace(runs.code, input_kept=True)
    if not runs.case.pool.written["input_kept"] or seen(runs) is None or comparable(runs.of(reading)):
        return None
    return reading


def asked(runs: Runs, what: str, place: wire.Stack) -> Question | None:
    """The question whether the input stays; `what` is handed on from pass to pass, and was made at `place`."""
    if (reading := kept(runs)) is None:
        return None
    clause = f"each iteration reads the input that the first one reads, and {what} does not replace it"
    answers = (
        Answer("kept", clause, reading),
        Answer("handed-on", f"each iteration reads {what} of the iteration before", replace(runs.code, truncated=True)),
    )
    text = f"Does each iteration read the same input, or {what} of the iteration before?"
    return Question("network-reads-its-output", text, place, answers)


def with_input(runs: Runs, found: Assessment) -> Assessment:
    """What an edit does, and that it is the code in which the input stays, where it changes that alone."""
    return told_as(runs, found, kept(runs), "each iteration reads the input that the first one reads")
