"""A start that each pass has and only the first one reads: does each pass begin with it, or go on from the last one?"""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Answer, Assessment, Question
from autofix.verdict.laws.what_is_shuffled_has_no_order import anew
from autofix.verdict.left_open.told import told_as
from autofix.verdict.runs import Runs


def asked(runs: Runs) -> Question | None:
    """The question whether each pass begins anew."""
    if (reading := anew(runs)) is None or (begun := runs.case.pool.begun) is None:
        return None
    answers = (
        Answer("anew", f"each iteration begins with `{begun.start}`", reading),
        Answer(
            "goes-on",
            f"each iteration goes on from `{begun.path}` of the one before",
            replace(runs.code, truncated=True),
        ),
    )
    text = f"Does each iteration begin anew with `{begun.start}`, or go on from `{begun.path}` of the one before?"
    return Question(begun.about, text, (begun.place,), answers)


def with_start(runs: Runs, found: Assessment) -> Assessment:
    """What an edit does, and that it is the code in which each pass begins with its start, where that is all."""
    return told_as(runs, found, anew(runs), "each iteration begins with the initial state, as the first one does")
