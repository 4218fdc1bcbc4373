"""Two losses of one network, one of which trains another network, too: does either learn from the other's loss?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autofix.core.model import Answer, Assessment, Effect, Question
from autofix.probe import wire
from autofix.verdict.blame import called
from autofix.verdict.left_open.told import told_as
from autofix.verdict.runs import Runs
from autofix.verdict.shared.players import kept_out, named


def asked(runs: Runs) -> Question | None:
    """Whether a network learns from the loss in doubt, too."""
    if not runs.freed_by or not (kept := kept_out(runs)):
        return None
    answers = (
        Answer("apart", _clause(runs, kept, "{} does not learn from {}"), replace(runs.code, apart=kept)),
        Answer("both", _clause(runs, kept, "{} learns from {}, too"), runs.code),
    )
    text = _clause(runs, kept[:1], "Should {} also learn from {}?")
    return Question("loss-trains-two-networks", text, kept[0].stack, answers)


def with_own(runs: Runs, found: Assessment) -> Assessment:
    """What an edit does, and that it keeps a network out of the loss in doubt, where it changes that alone."""
    if found.effect is not Effect.CHANGED or not runs.freed_by or not (kept := kept_out(runs)):
        return found
    said = _clause(runs, kept, "{} does not learn from {}")
    return told_as(runs, found, replace(runs.code, apart=kept), said)


def _clause(runs: Runs, kept: Sequence[wire.KeptOut], said: str) -> str:
    return " and ".join(said.format(named(runs, one.optimizer), called(one.stack)) for one in kept)
