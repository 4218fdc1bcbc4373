"""What an effect is in one sentence: what the gradients of an edit are equal to, or how they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autofix.core.model import Assessment, Change, Effect, Reading
from autofix.experiments.compare import differences, norms
from autofix.experiments.readings.learning import orphans
from autofix.experiments.readings.letters import OPERATION, UPDATE, words
from autofix.experiments.sketches import LIVE
from autofix.probe import wire
from autofix.verdict.blame import blame
from autofix.verdict.runs import Runs

_NAMED = 4
"""Whose gradients are named at most, one by one."""


def equal_to(runs: Runs, reading: Reading, *, same_live: bool) -> Assessment:
    """The effect of an edit that equals a reading of the code: live too, or with every step undone alone."""
    told = whose(runs)
    if reading.separated:
        sentence = (
            "with the edit, each step uses its own loss alone. As written, a step also uses the gradient of another one"
        )
        apart = differences(runs.of(reading.letter), runs.edited, LIVE)
        return Assessment(Effect.CHANGED, sentence, tuple(apart), reading)
    if reading.truncated:
        effect = Effect.TRUNCATED if same_live else Effect.REFRESHED_TRUNCATED
        sentence = f"{told} those of the code within each iteration. No gradient flows into earlier iterations"
        return Assessment(effect, sentence, (), reading)
    if same_live:
        return Assessment(Effect.IDENTICAL, f"{told} identical to those that the code describes", (), reading)
    newer = f"{told} those of the code, with newer parameters: {what_is_newer(runs)}"
    return Assessment(Effect.REFRESHED, newer, (), reading)


def what_is_newer(runs: Runs) -> str:
    """Which parameters an edit computes with that the code does not."""
    run = runs.trace
    wrote = {write.optimizer for saved in run.saved for write in saved.writes if 0 <= write.optimizer < len(run.names)}
    owners = dict.fromkeys(owner for index in sorted(wrote) for owner in run.owners(index))
    parameters = f"{_listed(list(owners))}" if 0 < len(owners) <= _NAMED else "the parameters"
    return f"the edit computes something again after a step, with {parameters} as updated by that step"


def changed(runs: Runs, changes: Sequence[Change], reference: wire.Trace) -> Assessment:
    """The effect of an edit that departs from a reference, by the first of what differs."""
    first = changes[0]
    if first.note:
        where = "" if first.parameter in first.note else f"{first.parameter}, step {first.step + 1}: "
        return Assessment(Effect.CHANGED, f"changed: {where}{first.note}", tuple(changes))
    others = list(dict.fromkeys(one.parameter for one in changes if one.parameter not in ("", first.parameter)))
    more = _listed([*others[:1], *["others"] * (len(others) > 1)])
    cause, loss = blame(first, reference, runs.edited, runs.case.pool.target, runs.files)
    departs = f"{first.parameter} gets {norms(first)} at step {first.step + 1}"
    said = (cause, departs, loss, f"Also changed: {more}" if more else "")
    return Assessment(Effect.CHANGED, f"changed: {'. '.join(filter(None, said))}", tuple(changes))


def other_draws(reference: wire.Trace, edited: wire.Trace) -> str:
    """Where the edit draws random numbers and the code does not, as a sentence more; or ''.

    A forward that runs once more draws others, and its gradients are others by that alone.
    """
    places = dict.fromkeys(
        _drawn(site)
        for drawn in ("drawn_at", "dropped_at")
        for site in getattr(edited, drawn)
        if site not in getattr(reference, drawn)
    )
    if not places:
        return ""
    said = _listed([*list(places)[:_NAMED], *["others"] * (len(places) > _NAMED)])
    return f". The edit also draws other random numbers ({said}), which may be all that changes the gradients"


def _drawn(site: str) -> str:
    """A place that draws: the line of the edit that leads to it, or its own; a line that an edit adds is negative."""
    frames = [frame.split(":") for frame in site.split("|")]
    added = next((frame for frame in frames if frame[-1].startswith("-")), None)
    if added is not None:
        return f"line {added[-1][1:]} of the edited {added[0]}"
    return f"{frames[0][0]}:{frames[0][-1]}"


def one_of_two(runs: Runs, one: Assessment) -> Assessment:
    """An edit that follows one reading where the program does not tell which is meant, or speaks against it."""
    mine = one.reading.refused if one.reading is not None else UPDATE
    other = UPDATE if mine is OPERATION else OPERATION
    said = words(runs.letter)
    if why := runs.case.pool.letters.contradicted.get(mine):
        sentence = f"changed: with this edit {why}"
        return replace(one, effect=Effect.CHANGED, sentence=sentence, starves=any(orphans(runs.edited)))
    sentence = f"the code can mean two things: that {said[mine]}, as in this edit; or that {said[other]}"
    return replace(one, effect=Effect.UNKNOWN, sentence=sentence)


def none_of_them(runs: Runs, one: Assessment) -> Assessment:
    """An edit of a program that speaks against each meaning of what torch refuses; what differs from these is kept."""
    said = words(runs.letter)
    against = (f"that {said[one]}, but then {why}" for one, why in runs.case.pool.letters.contradicted.items())
    sentence = (
        f"the code does not say which gradient is meant: a person has to choose. It can mean {'; or '.join(against)}. "
        f"Compared with one of these meanings, {one.sentence.removeprefix('changed: ')}"
    )
    return replace(one, effect=Effect.UNKNOWN, sentence=sentence, starves=any(orphans(runs.edited)))


def with_reading(runs: Runs, one: Assessment) -> Assessment:
    """With the reason why a refused operation is taken in the one way that is left, or why either way will do."""
    if runs.case.pool.letters.alike and one.effect.keeps_gradients:
        either = ", or that ".join(words(runs.letter).values())
        said = f"{one.sentence}. The code can mean that {either}: the optimizers make the same steps"
        return replace(one, sentence=said)
    if len(runs.case.pool.letters.contradicted) != 1 or not one.effect.keeps_gradients:
        return one
    ((refused, why),) = runs.case.pool.letters.contradicted.items()
    said = words(runs.letter)[refused]
    return replace(one, sentence=f"{one.sentence}. The code could also mean that {said}, but then {why}")


def whose(runs: Runs) -> str:
    """Whose gradients were compared: 'gradients of G (4 tensors) and D (4 tensors) at 3 steps are'."""
    live, past = runs.edited, runs.letter.past
    if not (live.steps or live.leaves):
        return "the numbers that the script prints are"
    stepped = sorted({step.optimizer for step in live.steps})
    known = [index for index in stepped if index < len(live.names)] if live.steps else range(len(live.names))[-1:]
    sizes: dict[str, list[int]] = {}
    for index in known:
        owners = live.owners(index)
        label = ", ".join(owners[:3]) + (", ..." if len(owners) > 3 else "")  # noqa: PLR2004
        sizes.setdefault(label, []).append(len(live.names[index]))
    parts = [f"{label} ({_sized(several)})" for label, several in sizes.items()]
    if len(parts) > _NAMED:
        parts[_NAMED - 1 :] = [f"{len(parts) - _NAMED + 1} more"]
    steps = len(live.steps) or len(live.leaves)
    where = f"{steps} step{'s' if steps != 1 else ''}" if live.steps else f"{steps} backward calls"
    took = f", in {past:.0f} s beyond the failure," if past >= 1 else ""
    return f"gradients of {_listed(parts) or 'all leaves'} at {where}{took} are"


def _sized(sizes: Sequence[int]) -> str:
    """How many tensors optimizers have that are called alike: said once for all of them."""
    tensors = f"{sum(sizes)} tensor{'s' * (sum(sizes) != 1)}"
    return tensors if len(sizes) == 1 else f"{tensors} in {len(sizes)} optimizers"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
