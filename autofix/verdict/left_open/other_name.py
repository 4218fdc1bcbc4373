"""A tensor that is written by a second name: does what the first one stands for keep its value?"""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Answer, Assessment, Question
from autofix.verdict.law import at
from autofix.verdict.left_open.told import told_as
from autofix.verdict.runs import Runs
from autofix.verdict.shared.other_names import kept, other, told


def asked(runs: Runs) -> Question | None:
    """The question whether it does."""
    if (reading := kept(runs)) is None:
        return None
    about, (name, place) = told(runs)
    alias = other(runs, name, place)
    answers = (
        Answer("kept", _clause(runs), reading),
        Answer(
            "written",
            f"{at(place)} changes `{name}`, too, because {alias} is the same tensor",
            replace(runs.code, truncated=runs.letter.carried),
        ),
    )
    text = f"Should `{name}` keep its value when {at(place)} writes to {alias}, which is the same tensor?"
    return Question(about, text, place, answers, shows=True)


def with_copy(runs: Runs, found: Assessment) -> Assessment:
    """What an edit does, and that it is the code in which what is written by another name keeps its value."""
    return told_as(
        runs, found, kept(runs), f"{_clause(runs)}; as written, both are one tensor, and the write changes both"
    )


def _clause(runs: Runs) -> str:
    _, (name, place) = told(runs)
    return f"`{name}` keeps its value when {at(place)} writes to {other(runs, name, place)}"
