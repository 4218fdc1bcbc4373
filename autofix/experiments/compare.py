"""Compares what two runs did to the gradients that optimizers used."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile, zip_longest

from autofix.core.model import Change
from autofix.experiments import values
from autofix.experiments.reordered import in_order
from autofix.experiments.sketches import CHANGES, EXACT, FROZEN, LIVE, close, for_rounding, norm
from autofix.probe import wire

_SAME_MOVE = 2e-3
"""Relative tolerance of moves that an optimizer makes of gradients that differ by their size alone."""
_CLOCK = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d(\.\d+)?")
"""A date or time of day, which is another one in each run."""
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?|nan|inf)(?![\w.])"
)
_SETTING = re.compile(r"\('(\w+)', ((?:\([^)]*\)|[^()])*)\)")
_MOST = 20
_NOTHING = 1e-6
"""Beside the largest gradient of its step, a smaller one is what rounding left, as in a bias before a batch norm."""
_OTHERWISE, _MORE = 0.5, 4.0
"""A gradient is what rounding leaves where it changes by this part at least; by so many times that, two may differ."""
_DIGITS = range(4, 8)
_SHOWN = 1e-4
"""By how much a printed figure with few places, such as 0.0, may be another one where both runs start alike."""
_SAME = 0.1
"""Norms that differ by less than this part of how far two gradients are apart are those of other directions."""
TAKES = frozenset({
    "View", "UnsafeView", "Squeeze", "Unsqueeze", "Expand", "T", "Transpose", "Permute", "Clone",
    "Select", "Slice", "Index", "IndexSelect", "Gather",
})  # fmt: skip
"""Operations that compute nothing: they take some values, or give them another form."""
_MOVED = "the step moves it differently"
_Sketch = tuple[float, ...]
_Three = Sequence[tuple[_Sketch, ...]]
"""One tensor at each step: in a run, in another, and in one that starts a trifle farther."""


def differences(
    reference: wire.Trace, candidate: wire.Trace, tolerance: float, *, printed: bool = False, leaves: bool = True
) -> list[Change]:
    """Where the candidate's run departs from the reference, on request also in what it prints; [] when they agree."""
    return departures(reference, candidate, tolerance, printed=printed, leaves=leaves)[:_MOST]


def departures(
    reference: wire.Trace, candidate: wire.Trace, tolerance: float, *, printed: bool = False, leaves: bool = True
) -> list[Change]:
    """The same, however many there are."""
    candidate = in_order(reference, candidate)
    if not reference.steps and not candidate.steps:
        found = _ranked(_leaves(reference, candidate, tolerance)) if leaves else []
        found.extend(_printed(reference, candidate, tolerance))
    else:
        found = _ranked(_optimizers(reference, candidate, tolerance))
        if printed:
            found.extend(_printed(reference, candidate, tolerance))
    found.extend(values.departures(reference, candidate, tolerance, leaves=leaves))
    if candidate.parted and not found:  # how it went on was not seen
        found.append(Change("", note="a gradient differs from that of the code"))
    return found


def of_rounding(changes: Iterable[Change], states: Iterable[str] = ()) -> frozenset[str]:
    """What alone differs, if each gradient that does is no larger than what rounding leaves; else ().

    An optimizer that divides by its gradient's size makes whole steps of rounding, also in a tensor of which only a
    part gets no more than that. `states` may end otherwise, as the mean in a batch norm that follows a bias.
    """
    found = list(changes)
    gradients = [change for change in found if not change.note]
    if not gradients or any(change.relative for change in gradients):
        return frozenset()
    names = frozenset(change.parameter for change in found if change.note in ("", _MOVED))
    may_end = names.union(states)
    notes = (change for change in found if change.note not in ("", _MOVED))
    alone = all(one.parameter in may_end and one.note.endswith(values.ENDS) for one in notes)
    return names if alone else frozenset()


def rounded(one: wire.Trace, other: wire.Trace, farther: wire.Trace, names: frozenset[str]) -> bool:
    """Whether two runs do to these parameters what rounding leaves, and differ in them by that.

    `farther` is the first run with parameters that start a trifle farther: what is more than rounding hardly changes.
    Rounding may leave 0 at some steps; a gradient that is 0 at all of them may be cut.
    """
    found: set[str] = set()
    for index in range(len(one.counts) or 1):
        mine, *others = (_by_name(run, index) for run in (one, other, farther))
        for name in names & mine.keys():
            steps = list(zip(mine[name], *(run.get(name, ()) for run in others), strict=False))
            gradients, moves = ([tuple(pair[which] for pair in step) for step in steps] for which in (0, 1))
            if not (_is_rounding(gradients) or _moves_by_rounding(gradients, moves)):
                return False
            found.add(name)
    return found == names


def _by_name(run: wire.Trace, optimizer: int) -> dict[str, list[tuple[_Sketch, _Sketch]]]:
    """What parameters of an optimizer get at its steps, and how they move; where there are none, what leaves get."""
    found: dict[str, list[tuple[_Sketch, _Sketch]]] = {}
    for step in run.of(optimizer) or run.leaves:
        names, kind = (run.names[-1], "leaf") if step.places else (run.parameters(optimizer), "parameter")
        both = zip_longest(step.gradients, step.changes, fillvalue=())
        for place, pair in zip(step.places or range(len(step.gradients)), both, strict=True):
            found.setdefault(_name(names, place, kind), []).append(pair)
    return found


def _is_rounding(three: _Three) -> bool:
    """Whether a gradient is another where parameters start a trifle farther, at the steps at which two runs differ.

    At all steps, where they differ at none.
    """
    differing = [sketches for sketches in three if not close(sketches[0], sketches[1], FROZEN)] or three
    size, apart, noise = (_total(differing, other) for other in (None, 1, 2))
    sent = any(norm(sketches[1]) for sketches in three)
    return sent and noise >= _OTHERWISE * size and apart <= _MORE * noise


def _moves_by_rounding(gradients: _Three, moves: _Three) -> bool:
    """Whether gradients are the same, and rounding in a part of them, as in the bias of all keys, moves that part."""
    rounding = for_rounding(math.inf, FROZEN)
    same = all(close(sketches[0], sketches[1], FROZEN, rounding) for sketches in gradients)
    other = any(not close(sketches[0], sketches[2], CHANGES) for sketches in moves)
    return same and other and _total(moves, 1) <= _MORE * _total(moves, 2)


def _total(some: _Three, other: int | None) -> float:
    """How far the first sketches are from others beside them, or from zeros, over all steps."""
    pairs = (zip_longest(one[0], () if other is None else one[other], fillvalue=0.0) for one in some)
    return math.sqrt(sum((a - b) ** 2 for pair in pairs for a, b in pair))


def _ranked(changes: Iterable[Change]) -> list[Change]:
    """Changes in the order of what they tell: a step that is gone, then each gradient where it first departs.

    Where several optimizers step a parameter, it departs where one of them is left without gradient. Of these come
    first those that are cut off, then the one that changes most, whichever optimizer was made first: what departs in
    consequence of another begins small.
    """
    found = list(changes)
    gradients = [change for change in found if not change.note]
    first: dict[str, Change] = {}
    for change in gradients:
        known = first.setdefault(change.parameter, change)
        if change.candidate == 0 < change.reference and known.candidate:
            first[change.parameter] = change
    ranked = sorted(first.values(), key=lambda change: (change.candidate != 0 or not change.relative, -change.relative))
    later = [change for change in gradients if change is not first[change.parameter]]
    structure = [change for change in found if change.note and change.note != _MOVED]
    return [*structure, *ranked, *later, *(change for change in found if change.note == _MOVED)]


def norms(change: Change) -> str:
    """What became of a gradient, in figures that differ: 'a gradient of norm 0.1 instead of 0.2'."""
    was, now = change.reference, change.candidate
    if not change.note and change.relative and abs(was - now) <= _SAME * change.relative * max(was, now):
        return f"a gradient of another direction, of the same norm ({now:.4g})"
    if not change.note and 0.0 in (was, now):
        return (
            f"no gradient instead of one of norm {was:.4g}" if was else f"a gradient of norm {now:.4g} instead of none"
        )
    digits = next((n for n in _DIGITS if f"{was:.{n}g}" != f"{now:.{n}g}"), 17)
    return f"a gradient of norm {now:.{digits}g} instead of {was:.{digits}g}"


def same_projections(reference: wire.Trace, candidate: wire.Trace, **also: bool) -> bool:
    """Whether both runs are the same to the last bit, but for where in a pass they write by hand what steps move.

    What the last such write of a pass leaves is the same. One behind the last step may be more than the reference has.
    """
    runs = reference, in_order(reference, candidate)
    one, other = (replace(trace, courses=tuple(map(_by_pass, trace.courses))) for trace in runs)
    first, more = ({one.name for one in trace.courses if one.unused} for trace in (reference, candidate))
    names = ((name, index, place) for index, owned in enumerate(reference.names) for place, name in enumerate(owned))
    late = {name for name, index, place in names if f"{index} {place}" in more - first}
    apart = differences(one, other, EXACT, **also)
    return all(change.note.endswith(values.ENDS) and change.parameter in late for change in apart)


def _by_pass(course: wire.Held) -> wire.Held:
    last = dict(zip(course.after, range(len(course.after)), strict=True)).values()
    back = tuple(place for place, number in enumerate(last) if number in course.back)
    return replace(course, values=tuple(course.values[number] for number in last), back=back)


def same_gradients(reference: wire.Trace, candidate: wire.Trace, tolerance: float = LIVE) -> bool:
    """Whether the optimizers of both runs make the same steps, of the same gradients."""
    return next(_optimizers(reference, in_order(reference, candidate), tolerance), None) is None


def same_moves(reference: wire.Trace, candidate: wire.Trace) -> bool:
    """Whether both runs make the same steps and move each parameter alike, whatever the gradients.

    A rate of 0, as a warm-up may begin with, hides how they would.
    """
    pairs = list(zip(reference.steps, candidate.steps, strict=False))
    return (
        bool(pairs)
        and reference.counts == candidate.counts
        and all(
            a.optimizer == b.optimizer
            and (any(map(norm, a.changes)) or not any(map(norm, a.gradients)))
            and a.settings == b.settings
            and len(a.changes) == len(b.changes)
            and all(close(one, two, _SAME_MOVE) for one, two in zip(a.changes, b.changes, strict=True))
            for a, b in pairs
        )
    )


def without_idle_steps(trace: wire.Trace) -> wire.Trace:
    """A run without the steps that used no gradient, or zeros, and moved nothing.

    What an optimizer remembers of zeros, as for momentum, shows in how later steps move.
    """
    steps = (step for step in trace.steps if any(map(norm, (*step.gradients, *step.changes))))
    return replace(trace, steps=tuple(steps))


def figures(text: str) -> int:
    """How many numbers a text has."""
    return len(_NUMBER.findall(text))


def failed_with(trace: wire.Trace) -> str:
    """Why a run failed, in a few words: what torch adds to it is advice to somebody else."""
    return trace.reason.partition("\n")[0].partition(". ")[0] or "no reason given"


def comparable(trace: wire.Trace) -> str:
    """Why a reference cannot be compared with, or ''."""
    if trace.outcome == "failed":
        return f"there is nothing to compare with: the code fails without autograd's checks, too ({failed_with(trace)})"
    if not trace.ended_well:
        why = ": ".join(filter(None, (trace.outcome.replace("_", " "), trace.reason)))
        return f"there is nothing to compare with: the run of the code without autograd's checks ended early ({why})"
    if not trace.steps and not trace.leaves and not _NUMBER.search(trace.stdout):
        return "there is nothing to compare: the code makes no step, leaves no gradient in a leaf, and prints no number"
    if any(math.isnan(value) for step in trace.steps for sketch in step.gradients for value in sketch):
        return "there is nothing to compare with: the gradients that the code describes are NaN"
    return ""


def _optimizers(reference: wire.Trace, candidate: wire.Trace, tolerance: float) -> Iterator[Change]:
    if len(reference.counts) != len(candidate.counts) and not candidate.parted:
        made, expected = len(candidate.counts), len(reference.counts)
        yield Change(
            "", 0, expected, made, note=f"the edited script makes {made} optimizers, the code makes {expected}"
        )
        return
    for index in range(len(reference.counts)):
        wanted, got = reference.of(index), candidate.of(index)
        fewer = len(got) < len(wanted) or (reference.outcome == "finished" and len(got) != len(wanted))
        if fewer and not candidate.parted:
            label = reference.owner(index)
            note = f"the optimizer of {label} makes {len(got)} steps, the code makes {len(wanted)}"
            yield Change(label, min(len(got), len(wanted)), len(wanted), len(got), note=note, rhythm=True)
        yield from _rhythm(reference, wanted, got)
        for number, (want, have) in enumerate(zip(wanted, got, strict=False)):
            yield from _step(reference, number, want, have, tolerance)


def cuts_the_graph(reference: wire.Trace, candidate: wire.Trace, tolerance: float = LIVE) -> bool:
    """Whether, at the first step that departs, parameters and losses were still the same: then only the graph differs.

    An edit that recomputes with newer parameters changes the loss as well; one that cuts or adds a path does not. The
    same to the last bit, for a small step moves a loss by less than any tolerance.
    """
    departing = first_departing(reference, candidate, tolerance)
    return departing is not None and departing[0].losses == departing[1].losses != ()


def first_departing(
    reference: wire.Trace, candidate: wire.Trace, tolerance: float = LIVE
) -> tuple[wire.Step, wire.Step, int] | None:  # fmt: skip
    """The first step that departs by more than rounding may, as both runs have it, and its number.

    None where none does, or it is gone.
    """
    candidate = in_order(reference, candidate)
    seen: dict[int, int] = {}
    wanted, got = (trace.steps or trace.leaves for trace in (reference, candidate))
    mine = {index: [s for s in got if s.optimizer == index] for index in {s.optimizer for s in wanted}}
    for want in wanted:
        number = seen[want.optimizer] = seen.get(want.optimizer, -1) + 1
        if number >= len(mine[want.optimizer]):
            return None
        have = mine[want.optimizer][number]
        apart = list(_step(reference, number, want, have, tolerance))
        if apart and not of_rounding(apart):
            return want, have, number
    return None


def takes_another_turn(reference: wire.Trace, candidate: wire.Trace) -> bool:
    """Whether optimizers depart though nothing that they use is newer than in the reference.

    What is computed anew is newer than what another step made stale. Where nothing was stale, the edit put a loss, or a
    step, on the other side of the step of another optimizer. A step that waits for further backward calls leaves
    what these go through older than it was.
    """
    departing = first_departing(reference, candidate)
    if departing is None or _waits(reference, candidate):
        return departing is not None
    before = [*takewhile(lambda step: step is not departing[0], reference.steps), departing[0]]
    alone = sum(map(bool, reference.counts)) < 2  # noqa: PLR2004  one takes no turns
    return not (alone or any(step.outdated for step in before))


def _waits(reference: wire.Trace, candidate: wire.Trace) -> bool:
    """Whether some step of the candidate comes behind more backward calls, and no run makes more of them."""
    pairs = list(zip(reference.steps, in_order(reference, candidate).steps, strict=False))
    alike = bool(pairs) and pairs[-1][0].calls == pairs[-1][1].calls
    return alike and any(had.calls > want.calls for want, had in pairs)


def _step(
    reference: wire.Trace, number: int, want: wire.Step, have: wire.Step, tolerance: float
) -> Iterator[Change]:  # fmt: skip
    names = reference.parameters(want.optimizer)
    if not _same_settings(want.settings, have.settings, tolerance):
        yield Change(reference.owner(want.optimizer), number, note=_unlike(want.settings, have.settings))
    if len(want.gradients) != len(have.gradients):
        label, (was, now) = reference.owner(want.optimizer), (len(want.gradients), len(have.gradients))
        tensors = f"{now} tensor{'s' * (now != 1)}"
        yield Change(label, number, was, now, note=f"the optimizer of {label} has {tensors}, in the code {was}")
        return
    largest = max(map(norm, (*want.gradients, *have.gradients)), default=0.0)
    least, rounding = _NOTHING * largest, for_rounding(largest, tolerance)
    for place, (expected, got) in enumerate(zip(want.gradients, have.gradients, strict=True)):
        if not close(expected, got, tolerance, rounding):
            yield _departure(_name(names, place), number, expected, got, least)
    for place, (expected, got) in enumerate(zip(want.changes, have.changes, strict=False)):
        if not close(expected, got, CHANGES if tolerance else EXACT):
            yield Change(_name(names, place), number, norm(expected), norm(got), note=_MOVED)


def _same_settings(was: str, now: str, tolerance: float) -> bool:
    """Whether settings are the same but for what rounding leaves of a rate that the script computes."""
    if was == now:
        return True
    pairs = zip(_NUMBER.findall(was), _NUMBER.findall(now), strict=False)
    near = all(math.isclose(float(one), float(other), rel_tol=tolerance) for one, other in pairs)
    return near and _NUMBER.sub("", was) == _NUMBER.sub("", now)


def _unlike(was: str, now: str) -> str:
    """In what the settings of an optimizer differ, as the witness writes them."""
    groups = now.count("('lr'"), was.count("('lr'")
    if groups[0] != groups[1]:
        return (
            f"the optimizer's parameters are in {groups[0]} group{'s' * (groups[0] != 1)}, in the code in {groups[1]}"
        )
    pairs = zip(_SETTING.findall(was), _SETTING.findall(now), strict=False)
    said = dict.fromkeys(f"{name} is {new} instead of {old}" for (name, old), (_, new) in pairs if old != new)
    return ": ".join(filter(None, ("the optimizer's settings differ", ", ".join(said))))


def _name(names: tuple[str, ...], place: int, kind: str = "parameter") -> str:
    return names[place] if place < len(names) else f"{kind} {place}"


def _departure(
    name: str, number: int, expected: tuple[float, ...], got: tuple[float, ...], least: float
) -> Change:  # fmt: skip
    size = max(norm(expected), norm(got))
    pairs = zip(expected or (0.0,) * len(got), got or (0.0,) * len(expected), strict=True)
    far = max((abs(a - b) for a, b in pairs), default=0.0)
    return Change(name, number, norm(expected), norm(got), relative=far / size if size > least else 0.0)


def _leaves(reference: wire.Trace, candidate: wire.Trace, tolerance: float) -> Iterator[Change]:
    names = reference.names[-1] if reference.names else ()
    if not reference.leaves:
        return
    if not candidate.leaves:
        yield Change("", note="no leaf receives a gradient any more")
        return
    if values.ended(reference, candidate) and len(reference.leaves) != len(candidate.leaves):
        pairs = [(len(reference.leaves) - 1, reference.leaves[-1], candidate.leaves[-1])]
    else:
        both = zip(reference.leaves, candidate.leaves, strict=False)
        pairs = [(number, want, have) for number, (want, have) in enumerate(both)]
    for number, want, have in pairs:
        rest = list(have.gradients)
        largest = max(map(norm, (*want.gradients, *have.gradients)), default=0.0)
        least, rounding = _NOTHING * largest, for_rounding(largest, tolerance)
        for place, expected in enumerate(want.gradients):
            # An edit may change the order in which a backward comes upon the leaves.
            same = [other for other in rest if close(expected, other, tolerance, rounding)]
            got = have.gradients[place] if place < len(have.gradients) else ()
            if same:
                rest.remove(same[0])
            elif not close(expected, (), tolerance):
                yield _departure(_name(names, want.places[place], "leaf"), number, expected, got, least)


def _printed(
    reference: wire.Trace, candidate: wire.Trace, tolerance: float, shown: float = math.inf
) -> Iterator[Change]:
    """The numbers that a run prints otherwise; `shown`: by how much one may that has fewer places than the other."""
    expected, got = _numbers(reference), _numbers(candidate)
    if values.ended(reference, candidate) and len(expected) != len(got):
        yield Change("", 0, len(expected), len(got), note="the edited script prints more or fewer numbers")
        return
    for number, (want, have) in enumerate(zip(expected, got, strict=False)):
        a, b = float(want), float(have)
        place = min(_last_place(want), max(_last_place(have), shown))
        rounding = 2 * place + 10 * tolerance * max(abs(a), abs(b))
        if not (a == b or abs(a - b) <= rounding < math.inf or (math.isnan(a) and math.isnan(b))):
            yield Change("", number, a, b, note=f"the script prints {have} instead of {want}")


def _numbers(trace: wire.Trace) -> list[str]:
    """The numbers that a run prints."""
    return _NUMBER.findall(_CLOCK.sub("", trace.stdout))


def shows_otherwise(reference: wire.Trace, candidate: wire.Trace, again: wire.Trace | None = None) -> str:
    """What two runs that came to their end print otherwise, or take otherwise of a tensor, in words; '' if nothing.

    `again` is the reference once more: a number that is another one there, such as a time, tells nothing.
    """
    if not values.ended(reference, candidate):
        return ""
    pairs = enumerate(zip_longest(_numbers(reference), _numbers(again or reference)))
    unsteady = {number for number, (want, have) in pairs if want != have}
    printed = (one for one in _printed(reference, candidate, LIVE, _SHOWN) if one.step not in unsteady)
    if (change := next(printed, None)) is not None:
        return change.note
    place = values.taken_otherwise(reference, candidate)
    return f"the number that the code reads at {values.line_of(place)} has another value" if place else ""


def _last_place(figure: str) -> float:
    """What one more in the last place of a printed figure adds, which rounding may flip; 0 for a whole number."""
    digits, _, exponent = figure.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])) if "." in digits else 0.0


_DIVERGED = 1e3
"""By how many times its size a gradient is of another order than that of the reference: one of the two diverges."""


def starved(reference: wire.Trace, cut: wire.Trace) -> Iterator[str]:
    """The parameters that the cut leaves, at some step, without any of the gradient they have in the reference.

    Not behind a step at which gradients are of another order: a network that is saturated for that sends none, either.
    """
    for index in range(min(len(reference.counts), len(cut.counts))):
        for want, have in zip(reference.of(index), cut.of(index), strict=False):
            if (
                max(map(norm, have.gradients), default=0.0)
                > _DIVERGED * max(map(norm, want.gradients), default=0.0)
                > 0
            ):
                break
            pairs = zip(want.gradients, have.gradients, strict=False)
            lost = (place for place, (a, b) in enumerate(pairs) if norm(a) > 0.0 == norm(b))
            yield from (reference.names[index][place] for place in lost)


def same_shape(reference: wire.Trace, candidate: wire.Trace, but: Collection[str] = ()) -> bool:
    """Whether the graphs behind each step's gradients are made of the same operations, but for some kinds of these.

    An edit may take rows before a layer, or behind it: there it is the same but for what TAKES.
    """
    return all(
        _counted(want, but) == _counted(have, but)
        for index in range(len(reference.counts))
        for want, have in zip(reference.of(index), candidate.of(index), strict=False)
    )


def _counted(step: wire.Step, but: Collection[str]) -> list[str]:
    return [one for one in step.shape.split() if one.partition("Backward")[0] not in but]


def made_of(step: wire.Step) -> Counter[str]:
    """How many operations of each kind the graph behind the gradients of a step has; none where nobody looked."""
    counts = (one.rpartition(":") for one in step.shape.split())
    return Counter({kind: int(count) for kind, _, count in counts})


def same_or_rounded(reference: wire.Trace, candidate: wire.Trace, tolerance: float, **also: bool) -> bool:
    """Whether two live runs are the same, but for what rounding left of gradients that are zero.

    Said only of runs that are the same with steps undone: there is no gradient then that is small and no rounding.
    """
    apart = departures(reference, candidate, tolerance, **also)
    return not apart or bool(of_rounding(apart))


def _ordinal(number: int) -> str:
    """A number as a place in a row: `2nd`, `11th`."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    teen = number // 10 % 10 == 1
    return f"{number}{'th' if teen else ends.get(number % 10, 'th')}"


def _rhythm(reference: wire.Trace, wanted: list[wire.Step], got: list[wire.Step]) -> Iterator[Change]:
    """How many backward calls lie between the steps of one optimizer: more, or none, is another training.

    More derivatives alone are none: they leave nothing for a step. Nor are terms of a loss that go backward each by
    itself, as long as none of their places does so more often.
    """
    before, mine = 0, 0
    period = max((b.calls - a.calls for a, b in pairwise(wanted)), default=wanted[0].calls if wanted else 0)
    sends = max((b.sent - a.sent for a, b in pairwise(wanted)), default=wanted[0].sent if wanted else 0)
    turns = max((b.turns - a.turns for a, b in pairwise(wanted)), default=wanted[0].turns if wanted else 0)
    for number, (want, have) in enumerate(zip(wanted, got, strict=False)):
        # A step that an edit moves behind another backward is late by less than a period, however often.
        late = have.calls - want.calls > period and have.sent - want.sent > sends
        late = late and have.turns - want.turns > turns
        # One whose gradient an edit had made before, and put aside, is no step more of the same gradient.
        again = have.calls == mine < want.calls > before
        if late or again:
            label, calls = reference.owner(want.optimizer), want.calls - before
            when = f"after the {_ordinal(have.calls)} backward call, in the code after the {_ordinal(want.calls)}"
            if again:
                when = "without a backward call since the one before, in the code "
                when += f"behind {calls} backward call{'s' * (calls != 1)}"
            note = f"the optimizer of {label} makes its {_ordinal(number + 1)} step {when}"
            yield Change(label, number, want.calls, have.calls, note=note, rhythm=True)
            return
        before, mine = want.calls, have.calls
