"""What the code leaves open: each thing that two readings decide otherwise and no law, as a question in words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from autofix.core import kept
from autofix.core.model import Answer, Question, Reading
from autofix.experiments.compare import comparable
from autofix.experiments.readings.letters import (
    ARRAY_WORDS,
    COMPLEX_WORDS,
    COPY_WORDS,
    LEAF_WORDS,
    LOSS_WORDS,
    words,
)
from autofix.probe import wire
from autofix.syntax import calls
from autofix.verdict.blame import called
from autofix.verdict.derivatives import derivative, gradient
from autofix.verdict.effect import trains_alike
from autofix.verdict.law import at, is_broken, required
from autofix.verdict.laws.a_name_keeps_its_value import is_half
from autofix.verdict.left_open import in_turn, other_name, own_output, start, two_losses
from autofix.verdict.left_open.averages import constant_averages
from autofix.verdict.left_open.handed_on import ended_by_call
from autofix.verdict.runs import Runs
from autofix.verdict.shared import aims

_LONG = 60
REFUSED = "two-readings"
"""What a question is about that asks how an operation is meant that torch refuses."""
_ASKED = (
    (LOSS_WORDS, ("sum", "mean", "Is the sum of these values the loss, or their mean?")),
    (COMPLEX_WORDS, ("real", "magnitude", "Is the real part of this value the loss, or its magnitude?")),
    (ARRAY_WORDS, ("constant", "trained",
                   "Is this array a constant, or does the loss train the tensor that it was computed from?")),
    (COPY_WORDS, ("constant", "trained",
                  "Is this copy a constant, or does the loss train the tensor that was copied?")),
    (LEAF_WORDS, ("leaf", "result", "Is this tensor a new leaf, or does it keep its graph to what made it?")),
)  # fmt: skip
"""By the clauses of both readings, the names of the answers, and the question."""
_OF_WRITES = "update", "forward", "Is this write an update of the values, as under no_grad, or a part of the forward?"


def questions(runs: Runs) -> Iterator[Question]:
    """All that the runs leave open, with the names of two answers to each."""
    if comparable(runs.letter):
        return
    found = (
        _refused,
        _target,
        two_losses.asked,
        _left_over,
        _weight,
        _old_values,
        other_name.asked,
        in_turn.asked,
        _made_once,
        _own_output,
        start.asked,
        _average,
        _earlier_passes,
        _derivative,
        _growing,
    )
    for question in (one for ask in found if (one := ask(runs)) is not None):
        if _is_open(runs, question):
            yield replace(question, key=kept.key(runs.case.pool.target, question.place))


def answered(runs: Runs) -> tuple[Question, ...]:
    """The questions of a case that were answered, by the name that was typed or one that the project keeps."""
    target = runs.case.pool.target
    known = kept.answers(target)
    if not (target.reading or known):
        return ()
    chosen = (replace(one, chosen=_choice(one, (target.reading, known.get(one.key, "")))) for one in questions(runs))
    return tuple(one for one in chosen if one.chosen)


def unanswered(runs: Runs) -> Question | None:
    """The one question to ask."""
    done = {one.about for one in runs.case.answered}
    question = next((one for one in questions(runs) if one.about not in done), None)
    return None if question is None else replace(question, outdated=kept.outdated(runs.case.pool.target, question.key))


def _choice(question: Question, names: tuple[str, ...]) -> str:
    return next((name for name in names if name in {answer.name for answer in question.answers}), "")


def _is_open(runs: Runs, question: Question) -> bool:
    """Whether both answers can be run, train or show otherwise, and are broken by no law.

    What is computed anew is no reading of its own: who asks about it has seen to it that it differs.
    """
    readings = [answer.means for answer in question.answers if answer.means is not None]
    # What takes the fewest runs is asked first.
    if any(is_broken(runs, one, at_hand=True) for one in readings) or any(comparable(runs.of(one)) for one in readings):
        return False
    pairs = [(one, other) for one in readings for other in (*readings, runs.code) if one != other]
    told = question.shows or len(readings) < len(question.answers)
    if not told and all(trains_alike(runs, one, other) for one, other in pairs):
        return False
    return not any(is_broken(runs, one) for one in readings)


def _refused(runs: Runs) -> Question | None:
    """An operation that torch refuses, where the program allows two meanings of it."""
    letters = runs.case.pool.letters
    if len(letters.readings) == 1 or letters.alike or letters.void:
        return None
    said = words(runs.letter)
    *names, text = next((asked for clauses, asked in _ASKED if clauses is said), _OF_WRITES)
    answers = [
        Answer(name, clause, Reading(refused)) for name, (refused, clause) in zip(names, said.items(), strict=True)
    ]
    return Question(REFUSED, text, runs.failure.stack, tuple(answers))


def _target(runs: Runs) -> Question | None:
    """A target with a graph in which the failure lies."""
    return _constant(runs, aims.TARGET, "the target", "loss-trains-its-target", "its target")


def _weight(runs: Runs) -> Question | None:
    """What weighs a term of a loss, with such a graph."""
    return _constant(runs, aims.WEIGHT, "the weight of a term", "weight-is-trained", "the weight")


def _constant(runs: Runs, name: str, unnamed: str, about: str, role: str) -> Question | None:
    if not (facts := aims.seen(runs)) or facts[0].name != name or (reading := aims.constants(runs, runs.code)) is None:
        return None
    used = reading.targets[0]
    node = next((node for _, _, node in runs.sources.nodes(used.stack[:1])), None)
    given = calls.given(node, used.argument) if node is not None else None
    named = f"`{ast.unparse(given)[:_LONG]}`" if given is not None else ""
    what = named or f"{unnamed} at {at(used.stack)}"
    answers = (
        Answer("constant", f"{what} is a constant, and no gradient flows into it", reading),
        Answer("trained", f"the loss trains {what}, too", runs.code),
    )
    whom = f"{role} {named}" if named else what
    return Question(about, f"Should the loss also train {whom}?", used.stack, answers)


def _left_over(runs: Runs) -> Question | None:
    fact = next(iter(runs.letter.seen("cross-talk")), None)
    if fact is None:
        return None
    index = next((i for i, names in enumerate(runs.letter.names) if fact.subject in names), 0)
    who, name = runs.letter.owner(index), called(fact.stack)
    answers = (
        Answer("own", f"{who} learns from its own loss alone", replace(runs.code, separated=True)),
        Answer("both", f"{who} learns from {name}, too", runs.code),
    )
    return Question("gradient-left-over", f"Should {who} also learn from {name}?", fact.stack, answers)


def _old_values(runs: Runs) -> Question | None:
    if runs.old_values is None or is_half(runs):
        return None
    place = next(iter(runs.whole_writes), ())
    answers = (
        Answer("old", "a variable that was assigned before keeps the old value", replace(runs.code, old_values=True)),
        Answer("written", "a variable that was assigned before shows the new value", runs.code),
    )
    text = f"{at(place)} writes in place. Should a variable that was assigned before and is read later keep its value?"
    return Question("old-value-read-later", text, place, answers)


def _made_once(runs: Runs) -> Question | None:
    constant = replace(runs.code, constant=True)
    if not runs.letter.reused or is_broken(runs, constant, at_hand=True) or required(runs, constant):
        return None
    if not runs.left_behind and (comparable(runs.constant) or trains_alike(runs, constant, runs.code)):
        return None
    what, place = _handed_on(runs, "the value computed once at {}")
    answers = (
        Answer("constant", f"{what} is a constant, and no gradient flows into it", constant),
        Answer("anew", f"each iteration computes {what} anew, and trains it", None),
    )
    return Question(
        "shared-across-passes",
        f"Is {what} a constant in all iterations that use it, or should each of them compute it anew?",
        place,
        answers,
    )


def _own_output(runs: Runs) -> Question | None:
    """A network that reads in each pass what it gave in the pass before."""
    return own_output.asked(runs, *_handed_on(runs, "the value written at {}"))


def _average(runs: Runs) -> Question | None:
    """An average that a pass keeps up and uses."""
    if (reading := constant_averages(runs)) is None:
        return None
    what, place = _handed_on(runs, "the average kept at {}")
    answers = (
        Answer("constant", f"{what} is a constant to the loss", reading),
        Answer(
            "trained", f"each loss trains what its own iteration adds to {what}", replace(runs.code, truncated=True)
        ),
    )
    return Question(
        "average-is-trained",
        f"Is {what} a constant to the loss, or does the loss train what its own iteration adds to it?",
        place,
        answers,
    )


def _earlier_passes(runs: Runs) -> Question | None:
    """What a pass hands to the next before a step, and its own backward call has freed."""
    code = replace(runs.code, truncated=runs.letter.carried)
    if (ended := ended_by_call(runs, code)) is None:
        return None
    what, place = _handed_on(runs, "the value handed on at {}")
    answers = (
        Answer("constant", f"{what} is a constant to later iterations", ended),
        Answer("trained", f"the losses of later iterations also train what {what} was computed from", code),
    )
    text = f"Is {what} a constant after the backward of its iteration, or do later losses train it, too?"
    return Question("passes-train-earlier-ones", text, place, answers)


def _handed_on(runs: Runs, unnamed: str) -> tuple[str, wire.Stack]:
    """What the failing pass took of an earlier one, as the code calls it or by its place, and that place."""
    made = next(iter(runs.trace.crossings), None)
    name = next((f"`{carrier.path}`" for carrier in made.carriers), "") if made is not None else ""
    place = made.made if made is not None and made.made else next(iter(runs.letter.reused), runs.failure.stack)
    return name or unnamed.format(at(place)), place


def _derivative(runs: Runs) -> Question | None:
    place = derivative(runs) or gradient(runs)
    if not place:
        return None
    name = called(runs.failure.stack) if runs.failure.in_backward else "the loss"
    answers = (
        Answer(
            "through",
            f"{name} trains through this derivative, as with create_graph=True",
            replace(runs.code, through=(place,)),
        ),
        Answer("constant", f"this derivative is a constant to {name}", runs.code),
    )
    return Question(
        "derivative-is-constant",
        f"Should {name} train through the derivative taken at {at(place)}, or is this derivative a constant?",
        place,
        answers,
    )


def _growing(runs: Runs) -> Question | None:
    """A loss that grows over a loop with a step inside."""
    fact = next(iter(runs.letter.seen("loss-grows-over-steps")), None)
    if fact is None:
        return None
    name = called(fact.stack)
    answers = (
        Answer("own", f"each step uses only the new terms of {name}", replace(runs.code, truncated=True)),
        Answer("all", f"each step uses all terms that were summed up in {name} so far", runs.code),
    )
    text = (
        f"{name} keeps growing. Does each step use only its new terms, or do backward and step belong after the loop?"
    )
    return Question("loss-grows-over-loop", text, fact.stack, answers)
