"""Tensors that are written in turn, so that one write reads what another left: does each read what was before all?"""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Answer, Assessment, Question, Reading
from autofix.experiments.compare import comparable, differences
from autofix.experiments.sketches import LIVE
from autofix.probe import wire
from autofix.verdict.law import at
from autofix.verdict.left_open.told import told_as
from autofix.verdict.runs import Runs


def before(runs: Runs) -> Reading | None:
    """The reading in which each write reads what was before them all, where it can run and trains otherwise."""
    reading = replace(runs.code, at_once=True)
    if not runs.case.pool.written["at_once"] or comparable(other := runs.of(reading)):
        return None
    return reading if differences(runs.letter, other, LIVE) else None


def place(runs: Runs) -> wire.Stack:
    """Where one of the writes stands."""
    writes = (write for saved in runs.trace.saved for write in saved.writes if write.optimizer < 0)
    return next((write.stack[:1] for write in writes), ())


def asked(runs: Runs) -> Question | None:
    """The question whether they do."""
    if (reading := before(runs)) is None:
        return None
    where = place(runs)
    answers = (
        Answer("before", _clause(runs), reading),
        Answer("in-turn", "a later write reads what an earlier one has written", runs.code),
    )
    text = f"Does each of the writes around {at(where)} read the values from before all of them?"
    return Question("operands-written-in-turn", text, where, answers)


def with_both(runs: Runs, found: Assessment) -> Assessment:
    """What an edit does, and that it is the code in which each write reads what was before them all."""
    return told_as(runs, found, before(runs), _clause(runs))


def _clause(runs: Runs) -> str:
    return f"each of the writes around {at(place(runs))} reads the values from before all of them"
