"""Compares what two runs leave outside the gradients of steps: writes, their values, and the numbers that are taken."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import takewhile, zip_longest
from pathlib import Path

from autofix.core.model import Change
from autofix.experiments.sketches import CHANGES, EXACT, LIVE, close, norm
from autofix.probe import wire

_Course = tuple[tuple[float, ...], ...]

_WRITTEN = 4e-6
"""By how much, beside a tensor's norm, what is written to it may be moved otherwise."""
_ANY = 1e9
"""A tolerance within which all values are the same."""
_BESIDE = 2
"""Writes by hand that one of two runs may have seen used at its end, and the other not."""
_SAME, _NEAR = 1e-3, 1e-5
"""By which part of itself, and of the largest one there, a number that is taken may differ by rounding."""
_BATCHES = "num_batches_tracked"
ENDS = "ends with other values"


def departures(reference: wire.Trace, candidate: wire.Trace, tolerance: float, *, leaves: bool) -> Iterator[Change]:
    """What is written otherwise, ends otherwise, or is used with other values."""
    yield from _states(reference, candidate, tolerance)
    yield from _finals(reference, candidate, tolerance, leaves=leaves)
    yield from _helds(reference, candidate)
    yield from _courses(reference, candidate, LIVE if tolerance else EXACT)


def _states(reference: wire.Trace, candidate: wire.Trace, tolerance: float) -> Iterator[Change]:
    """Writes outside optimizers: target networks, moving averages, buffers."""
    other = {state.name: state for state in candidate.states}
    again = _again(reference, candidate)
    same_end = ended(reference, candidate) or _stopped_alike(reference, candidate)
    copies = _in_copies(reference, candidate)
    for state in reference.states:
        match = other.get(state.name)
        if match is None:
            continue
        if match.changed and match.name.startswith(again):
            continue
        if state.name in copies:
            continue
        if state.result and match.result and not (state.changed or match.touched):
            continue  # a list that the code only goes on filling may begin anew
        if state.changed != match.changed:
            if (
                _comes_back(state, match, tolerance)
                if same_end
                else _is_item_at_another_end(state, reference, candidate)
            ):
                continue
            word = "no longer written" if state.changed else "written"
            yield Change(state.name, 0, norm(state.last), norm(match.last), note=f"{state.name} is {word}")
        elif state.result or match.result:
            continue  # a result has the values of the last pass, wherever that was
        elif state.changed and same_end and not close(state.last, match.last, 50 * tolerance):
            yield Change(state.name, 0, norm(state.last), norm(match.last), note=f"{state.name} {ENDS}")


def _comes_back(want: wire.State, have: wire.State, tolerance: float) -> bool:
    """Whether it is a place in a ring, which comes to hold again what it held when one of two runs first looked."""
    return want.touched and have.touched and close(want.last, have.last, tolerance)


def _is_item_at_another_end(state: wire.State, reference: wire.Trace, candidate: wire.Trace) -> bool:
    """Whether it is an item of a container, and two runs stopped behind other steps: passes fill that anew.

    What it holds at each of these ends may be another value than at first, or the same by chance.
    """
    return "[" in state.name and len(reference.steps) != len(candidate.steps)


def _in_copies(reference: wire.Trace, candidate: wire.Trace) -> set[str]:
    """The states that each call sets for itself, and an edit does not write: calls may as well write to a copy.

    Of a run that was stopped nobody knows whether something reads them later.
    """
    kept = {state.name for state in candidate.states if not (state.changed or state.touched)}
    return {one.subject for one in reference.seen("set-for-a-call") if reference.outcome == "finished"} & kept


def compared_ends(reference: wire.Trace, candidate: wire.Trace) -> frozenset[str]:
    """The states that both runs have written, and whose last values are compared."""
    again = _again(reference, candidate)
    known = ended(reference, candidate) or _stopped_alike(reference, candidate)
    written = ({s.name for s in trace.states if s.changed and not s.result} for trace in (reference, candidate))
    return frozenset(n for n in set.intersection(*written) if known and not n.startswith(again))


def _again(reference: wire.Trace, candidate: wire.Trace) -> tuple[str, ...]:
    """What the names of running statistics begin with that more forwards have moved; their own counter tells.

    One more forward is no write that an edit lost. One that is gone is, unless the run was stopped before it.
    """
    want, have, last = counted(reference), counted(candidate), not ended(reference, candidate)
    return tuple(
        name for name, count in want.items() if (more := have.get(name, count) - count) > 0 or 0 < -more <= last
    )


def counted(trace: wire.Trace) -> dict[str, float]:
    """How many forwards have moved running statistics since they were first seen, by what their names begin with."""
    counts = (state for state in trace.states if state.name.endswith(_BATCHES))
    return {one.name.removesuffix(_BATCHES): norm(one.last) - norm(one.first) for one in counts}


def _helds(reference: wire.Trace, candidate: wire.Trace) -> Iterator[Change]:
    """What state held at each step: a write that is taken back before the next, or a state at another end of a run."""
    other = {one.name: one.values for one in candidate.held}
    skipped = {state.name for trace in (reference, candidate) for state in trace.states if state.result}
    skipped |= _in_copies(reference, candidate)
    again = _again(reference, candidate)
    for one in reference.held:
        if one.name not in other or one.name in skipped or one.name.startswith(again):
            continue
        if not _same_course(one.values, other[one.name], ended=ended(reference, candidate)):
            note = f"{one.name} holds other values between the steps"
            yield Change(one.name, 0, len(one.values), len(other[one.name]), note=note)


def _courses(reference: wire.Trace, candidate: wire.Trace, tolerance: float) -> Iterator[Change]:
    """What parameters and buffers held where a forward, a backward or a step used them: a lost write shows there."""
    other = {one.name: one for one in candidate.courses}
    again, copies = _again(reference, candidate), _in_copies(reference, candidate)
    for one in reference.courses:
        match = other.get(one.name)
        if match is None or one.loose or one.name.startswith(again) or one.name in copies:
            continue
        index, _, place = one.name.partition(" ")
        owned, got = bool(place) and index.isdecimal(), match.values
        if owned and len(one.values) == len(got) == 1 and one.after != match.after:
            continue  # there it is the tensor of an earlier optimizer, and here a new one that holds the same
        if not (owned or close(one.values[0], got[0], tolerance)) and any(
            close(one.values[0], mine.values[0], tolerance) for mine in other.values()
        ):
            continue  # the name stands for another tensor there: a function may be called for one and for the other
        same = all(_alike(one, match, place, tolerance) for place in range(min(len(one.values), len(got))))
        more = abs(len(one.values) - len(got))
        # What is written last may be used in one run only: then a few more of many are no other program.
        if not same or more > min(_BESIDE, len(one.values) - 1, len(got) - 1):
            name = reference.names[int(index)][int(place)] if owned else one.name
            note = f"{name} is used with other values"
            yield Change(name, 0, norm(one.values[-1]), norm(got[-1]), note=note)


def _alike(want: wire.Held, have: wire.Held, place: int, tolerance: float) -> bool:
    """Whether two tensors held the same at a place, or each what its own latest step had left.

    A norm tells that by chance, too: then only one of them is known to, and has to be near the other.
    """
    known = [place in one.back for one in (want, have)]
    within = min(tolerance, LIVE) if any(known) else tolerance
    return all(known) or close(want.values[place], have.values[place], within)


def _same_course(want: _Course, have: _Course, *, ended: bool) -> bool:
    """Whether two tensors held the same values in the same order, each for as long as may be.

    One look more or less, by an edit that moves a backward or a step, is no difference; where runs were stopped, one of
    them may have seen more.
    """
    return any(
        _walks(want[a:], have[b:], ended=ended) for a, b in ((0, 0), (1, 0), (0, 1)) if want[a:] and have[b:]
    ) or not (want and have)


def _walks(want: _Course, have: _Course, *, ended: bool) -> bool:
    if not close(want[0], have[0], LIVE):
        return False
    i = j = 0
    while i + 1 < len(want) and j + 1 < len(have):
        steps = [(a, b) for a, b in ((1, 1), (1, 0), (0, 1)) if close(want[i + a], have[j + b], LIVE)]
        if not steps:
            return False
        i, j = i + steps[0][0], j + steps[0][1]
    rest = [(value, have[-1]) for value in want[i + 1 :]] + [(value, want[-1]) for value in have[j + 1 :]]
    return all(close(*pair, LIVE) for pair in rest) or (not ended and 2 * len(rest) <= max(len(want), len(have)))


def vanished(reference: wire.Trace, candidate: wire.Trace) -> list[Change]:
    """Variables that hold tensors of their own in the reference, and in the candidate share another's or hold none.

    A record that holds the same as numbers has lost nothing: what reads it may do the same with them.
    """
    mine = {_variable(state.name) for state in candidate.states}
    same_end = ended(reference, candidate) or _stopped_alike(reference, candidate)
    numbers = {one.name: one.last for one in candidate.numbers if same_end}
    names = dict.fromkeys(
        _variable(state.name)
        for state in reference.states
        if not (state.result or (state.name in numbers and close(state.last, numbers[state.name], LIVE)))
    )
    return [Change(n, note=f"{n} holds no tensors of its own any more") for n in names if n not in mine]


def _variable(name: str) -> str:
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def lost_writes(reference: wire.Trace, candidate: wire.Trace) -> list[Change]:
    """Writes outside optimizers that only the reference has, whatever the values: what it wrote, and what was used so.

    Weights that are put back to what they were are told from others by that alone.
    """
    written = [change for change in _states(reference, candidate, _ANY) if change.note.endswith("no longer written")]
    return [*written, *_courses(reference, candidate, _ANY)]


def moved_otherwise(reference: wire.Trace, candidate: wire.Trace) -> bool:
    """Whether something else than a step moves a tensor otherwise, though all gradients until then are the same.

    Or the same to the last bit, and then so are all values: what a write leaves to the next step may be small at first.
    """
    return any(_moved_otherwise(reference, candidate, tolerance) for tolerance in (LIVE, EXACT))


def _moved_otherwise(reference: wire.Trace, candidate: wire.Trace, tolerance: float) -> bool:
    wanted, got = (trace.steps or trace.leaves for trace in (reference, candidate))
    alike = sum(1 for _ in takewhile(lambda pair: _same_step(*pair, tolerance), zip(wanted, got, strict=False)))
    # What is written last may be used in one run only: of what one of them never saw, it must have gone on a while.
    fewest = min(len(wanted), len(got)) - len(reference.counts)
    other = {one.name: one for one in candidate.courses}
    for one in (one for one in reference.courses if one.name in other):
        match = other[one.name]
        for place, seen in enumerate(zip_longest(one.after, match.after, fillvalue=-1)):
            turned = (place in one.late) != (place in match.late)  # a write and a step have changed places
            if min(seen) < 0 or turned or not _alike(one, match, place, tolerance):
                # Where it starts otherwise, nothing moved it.
                if 0 < max(seen) <= alike and (min(seen) >= 0 or max(seen) < fewest):
                    return True
                break
    # What was written behind the last step was used by nothing.
    return alike == len(wanted) == len(got) > 0 and any(_finals(reference, candidate, tolerance, leaves=False))


def _same_step(want: wire.Step, have: wire.Step, tolerance: float) -> bool:
    pairs = zip(want.gradients, have.gradients, strict=False)
    same = want.optimizer == have.optimizer and len(want.gradients) == len(have.gradients)
    return same and all(close(*pair, tolerance) for pair in pairs)


def _finals(reference: wire.Trace, candidate: wire.Trace, tolerance: float, *, leaves: bool) -> Iterator[Change]:
    """Where parameters end: a write after the last step is seen nowhere else.

    What a whole training adds up to in rounding is more than a small last write: that is compared by itself, too.
    """
    if not ended(reference, candidate) or len(reference.finals) != len(candidate.finals):
        return
    groups = enumerate(reference.names[: None if leaves else -1])
    names = [(f"{index} {place}", name) for index, group in groups for place, name in enumerate(group)]
    last, mine = ({one.name: one.unused for one in trace.courses} for trace in (reference, candidate))
    for (key, name), want, have in zip(names, reference.finals, candidate.finals, strict=False):
        near = close(want, have, 50 * tolerance)
        wrote = close(want, have, min(tolerance, LIVE)) or _same_write(last.get(key, ()), mine.get(key, ()), norm(want))
        if not (near and wrote):
            yield Change(name, 0, norm(want), norm(have), note=f"{name} {ENDS}")


def _same_write(want: tuple[float, ...], have: tuple[float, ...], size: float) -> bool:
    """Whether two writes moved a tensor of this norm alike; () moved nothing, one number is the norm's alone."""
    known = min(filter(None, (len(want), len(have))), default=0)
    pairs = zip(want or (0.0,) * known, have or (0.0,) * known, strict=False)
    return all(abs(a - b) <= max(CHANGES * max(abs(a), abs(b)), _WRITTEN * size) for a, b in pairs)


def ended(reference: wire.Trace, candidate: wire.Trace) -> bool:
    return reference.outcome == candidate.outcome == "finished"


def _stopped_alike(reference: wire.Trace, candidate: wire.Trace) -> bool:
    """Whether both runs were stopped at the same event, after the same steps in the same order.

    Where an edit moves a step, the stop may come before a write in one run and after it in the other.
    """
    orders = [[step.optimizer for step in trace.steps] for trace in (reference, candidate)]
    return (
        reference.outcome == candidate.outcome == "stopped"
        and orders[0] == orders[1]
        and len(reference.leaves) == len(candidate.leaves)
    )


def line_of(site: str) -> str:
    """The line of a site."""
    file, _, line = site.partition("|")[0].split(":")
    return f"{file}:{line}"


def taken_otherwise(code: wire.Trace, edited: wire.Trace) -> str:
    """The first place of the code at which another number is taken in an edited run; '' where there is none."""
    if not (code.ended_well and edited.ended_well) or set(code.drawn_at) != set(edited.drawn_at):
        return ""
    got = _by_site(edited)
    tried = {f"{Path(frame.file).name}:{frame.line}" for done in code.performed for frame in done.stack[:1]}
    places = ((site, calls) for site, calls in _by_site(code).items() if line_of(site) not in tried)
    return next((site for site, calls in places if _takes_others(calls, got.get(site, []))), "")


def _by_site(trace: wire.Trace) -> dict[str, list[wire.Taken]]:
    found: dict[str, list[wire.Taken]] = {}
    for one in trace.taken:
        found.setdefault(one.site, []).append(one)
    return found


def _takes_others(want: list[wire.Taken], have: list[wire.Taken]) -> bool:
    """Whether the calls of a line take other numbers in an edited run.

    What has a graph in one run alone is heard in the other only: each call of the run with fewer has one like it there.
    """
    differ = [[any(differing(one.values, other.values)) for other in have] for one in want]
    if len(want) == len(have):
        return any(row[number] for number, row in enumerate(differ))
    return any(map(all, differ if len(want) < len(have) else zip(*differ, strict=True)))


def differing(want: tuple[float, ...], have: tuple[float, ...]) -> list[bool]:
    """Of each number that two runs take at a call, whether it is another by more than rounding."""
    known = _NEAR * max(map(abs, filter(math.isfinite, want)), default=0.0)
    pairs = zip(want, have, strict=False)
    return [math.isfinite(a) and not math.isclose(a, b, rel_tol=_SAME, abs_tol=known) for a, b in pairs]
