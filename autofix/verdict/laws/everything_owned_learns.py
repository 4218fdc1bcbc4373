"""Everything owned learns

## What it says

Nobody trains a loss in vain. The code as written breaks the law where the steps behind a backward are those of an
optimizer that never has any gradient, though the loss depends on what it owns: a generator whose loss is made of the
critic's output for `fake.detach()`, which was computed for the critic's loss. So it is where such a term stands beside
others that do train the generator. The reading that keeps it does not cut the graph there. Where the critic's loss
itself is added, or a number that it was made of, the law is silent: a sum of losses may be there to be shown.

What several passes share was made once, before them. Cut after the first of them, it breaks the law where the later
ones then leave a parameter without any gradient that an optimizer owns and that gets one otherwise, or where their
losses would have no graph at all. What was made once is then to be computed anew.

It breaks the law, too, where a write to a tensor that has a second name leaves a parameter without any gradient that an
optimizer owns, and that gets one if the write goes to a copy (`hard = soft`, then `hard.zero_().scatter_(…)`).

## Where it is silent

Where another optimizer uses what the loss sends, as a head's does: that of what is before it may be left over. Where
the graph is lost in several places.

Of what is made once: where it is a result of what learns in other passes, as the learners of an ensemble do that were
fitted one after the other. And where data went into it. Features that were computed once may be meant as they are, for
a probe on a network that is not to be tuned. It speaks of these, too, where the losses have nothing else, or where an
optimizer that steps in each pass would have no gradient for anything that it owns, ever: nobody makes steps with what
is to stay as it is. And where such features are made again and again (for each picture, in each episode) by parameters
that an optimizer owns and that would never learn: nobody computes with a network anew that is to stay as it is. But of
what is made again of the same data, as an index is in each epoch, of what something was drawn from, as actions are, or
of what was computed by modules that evaluate, it says nothing: that may be data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autofix.experiments.compare import comparable, starved
from autofix.experiments.readings.learning import LEAST, deprived, learns, orphans
from autofix.experiments.sketches import norm
from autofix.probe import wire
from autofix.syntax.edits import second_name
from autofix.verdict.law import KEPT, SILENT, Law, Reading, Ruling, Word, at
from autofix.verdict.runs import Runs, lines


class EverythingOwnedLearns(Law):
    clause = "every parameter that an optimizer owns learns"

    def readings(self, runs: Runs) -> Iterator[Reading]:
        """The code without the cut that leaves an optimizer nothing, or with a write that goes to a copy."""
        if cut := _cut_off(runs):
            yield replace(runs.code, uncut=cut, separated=True)
        elif _written_over(runs):
            yield replace(runs.code, copied=True)

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        if cut := _cut_off(runs):
            why = (
                f"the graph is cut at {at(cut)}: an optimizer gets no gradient from there, although the loss that it "
                "steps on, or a part of that loss, depends on its parameters"
            )
            return KEPT if reading.uncut == cut else Ruling(Word.BROKEN, why)
        if why := _written_over(runs):
            return KEPT if reading.copied else Ruling(Word.BROKEN, why)
        if not ((reading.truncated or reading.constant) and runs.letter.reused):
            return SILENT
        if runs.letter.alone:
            return Ruling(Word.BROKEN, "the losses of later iterations would train nothing")
        if comparable(runs.cut) or not (lost := next(_never_taught(runs, starved(runs.letter, runs.cut)), "")):
            return SILENT
        if runs.sourced.fed and not (_steps_in_vain(runs) or _is_made_in_vain(runs)):
            return SILENT
        return Ruling(Word.BROKEN, f"{lost} would get no gradient in later iterations")


def _cut_off(runs: Runs) -> wire.Stack:
    """The one place that keeps all gradient of a loss, or of what fails in it, from what steps behind it."""
    idle = {
        index for index in runs.letter.used if len(steps := _trained(runs.letter, index)) >= LEAST and not any(steps)
    }
    behind = runs.behind
    if not behind or not (behind <= idle or runs.reaches_others) or comparable(runs.sourced):
        return ()
    found = [
        one
        for one in runs.sourced.cut_off
        if one.optimizer in behind and (behind <= idle or (one.again and not one.number))
    ]
    places = {one.place[:1] for one in found}
    depends = any(lines(one.loss) == lines(runs.failure.stack) for one in found)
    return places.pop() if len(places) == 1 and depends else ()


def _written_over(runs: Runs) -> str:
    """How a write by a second name leaves nothing to a parameter that learns if it goes to a copy; '' if none does."""
    letter, copies = runs.letter, runs.case.pool.written["copied"]
    if not copies or comparable(letter) or len(letter.steps) < LEAST or not any(orphans(letter)):
        return ""
    sources = runs.sources
    written = (write for saved in runs.trace.saved for write in saved.writes)
    places = {write.stack[:1]: name for write in written if (name := second_name(sources, write.stack))}
    other = runs.of(replace(runs.code, copied=True)) if places else letter
    if comparable(other) or any(deprived(other, letter)) or not (lost := next(deprived(letter, other), "")):
        return ""
    place, name = next(iter(places.items()))
    return f"{lost} never gets a gradient, because {at(place)} writes in place to the memory of `{name}`"


def _never_taught(runs: Runs, starved: Iterator[str]) -> Iterator[str]:
    """Those of the parameters without gradient in later passes that learn in no other pass, either.

    Where what is made once is a constant to the first of the passes that share it, too.
    """
    for name in starved:
        if comparable(runs.constant) or not learns(runs.constant, name):
            yield name


def _steps_in_vain(runs: Runs) -> bool:
    """Whether some optimizer would never have any gradient that has one at each of its steps now."""
    if comparable(runs.constant):
        return False
    optimizers = range(len(runs.letter.counts))
    pairs = ((_trained(runs.letter, index), _trained(runs.constant, index)) for index in optimizers)
    return any(len(now) >= LEAST and all(now) and not any(then) for now, then in pairs)


def _is_made_in_vain(runs: Runs) -> bool:
    """Whether what passes share is made again and again by what would never learn, were it a constant."""
    again = runs.sourced.again and not runs.sourced.drawn
    return again and not comparable(runs.constant) and any(deprived(runs.constant, runs.letter))


def _trained(run: wire.Trace, index: int) -> list[bool]:
    """Of each step of an optimizer, whether it used any gradient."""
    return [any(map(norm, step.gradients)) for step in run.steps if step.optimizer == index and step.asks]
