"""What an edit does to the gradients: its runs against those of each reading that is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from autofix.core.model import Assessment, Change, Effect, Reading, Treatment
from autofix.experiments.compare import (
    TAKES,
    comparable,
    cuts_the_graph,
    departures,
    differences,
    first_departing,
    of_rounding,
    rounded,
    same_gradients,
    same_or_rounded,
    same_projections,
    same_shape,
    takes_another_turn,
)
from autofix.experiments.losses import losses, same_losses, same_values
from autofix.experiments.readings.letters import OPERATION, UPDATE, weighed
from autofix.experiments.requests import lacking
from autofix.experiments.sketches import EXACT, FOLLOWED, FROZEN, LIVE
from autofix.experiments.spec import UNEDITED, Intervention, RunSpec
from autofix.experiments.values import compared_ends, lost_writes, moved_otherwise, vanished
from autofix.probe import wire
from autofix.verdict import motion
from autofix.verdict.runs import Runs
from autofix.verdict.unjudged import unjudged, unreached
from autofix.verdict.wording import changed, equal_to, none_of_them, one_of_two, other_draws, with_reading


def assess(runs: Runs) -> Assessment:
    """The effect of an edit whose own run got past the failure."""
    found, letter = _Comparison(runs).assessment(), runs.letter
    if found.effect.keeps_gradients:
        why, instead = unreached(runs, found.reading or runs.code)
        if why:
            return _unknown(why)
        found = replace(found, sentence=f"{found.sentence}. {instead}") if instead else found
    if not letter.hurried or found.effect is Effect.IDENTICAL or not found.effect.keeps_gradients:
        return found
    # Two passes show what each hands to the next; what is made once, for several of them, shows only in the third.
    if runs.case.pool.go_further() and not runs.letter.hurried:
        return assess(runs)
    return replace(found, effect=Effect.UNKNOWN, sentence=lacking("a third training step", runs.letter.past))


def compared_with(runs: Runs, reading: Reading) -> dict[str, bool]:
    """What is compared besides the gradients that optimizers used, as keywords of `differences`."""
    pool = runs.case.pool
    letter = runs.of(reading.letter)
    # What a conversion, a derivative or a tensor's own gradient gives, or what follows the last step, shows in print.
    asked = runs.converts or runs.through_numpy or runs.looks_at_gradient or runs.failure.stack in letter.derivatives
    printed = letter.counts == pool.baseline.counts or asked
    # Where a result keeps its gradient, the leaves behind it count only if the program still holds them.
    kept = reading.refused is OPERATION and runs.looks_at_gradient
    leaves = not kept or (UPDATE in pool.letters.contradicted and not letter.steps)
    return {"printed": printed, "leaves": leaves}


def follows(runs: Runs, reading: Reading) -> bool:
    """Whether the edit equals a reading that is not among those compared anyway, live and with every step undone.

    What it computes again may have newer parameters: then it equals it only with every step undone. That is said of
    readings which change where gradients go within a pass alone: `uncut`, `separated` and `apart`.
    """
    live, also = runs.of(reading), compared_with(runs, reading)
    # Records that stay without a graph add nothing but numbers to what is trained, and more in each pass.
    if comparable(live) or (reading.emptied and not same_losses(live, runs.edited, runs.before_failure)):
        return False
    if _decides_live(runs) and _to_the_last_bit(runs, reading):
        return True
    alike = same_or_rounded(live, runs.edited, LIVE, **also)
    within = reading.uncut or reading.separated or reading.apart
    if not alike and not (within and not also["printed"] and _may_be_newer(runs, reading)):
        return False
    # Not the run that may end where it has left all other readings.
    edited = RunSpec.edited(runs.files, Treatment.FROZEN, Intervention.REPEATED)
    runs.case.pool.expect(RunSpec.reference(reading, Treatment.FROZEN), edited)
    still, frozen = runs.of(reading, Treatment.FROZEN), runs.case.pool.get(edited)
    same = frozen.ended_well and not comparable(still) and not differences(still, frozen, FROZEN, **also)
    return same and (alike or _comes_to_departing(runs, reading, frozen))


def computes_newer(runs: Runs, reading: Reading) -> bool:
    """Whether an edit that follows a reading computes something of it again, with newer parameters."""
    return not same_or_rounded(runs.of(reading), runs.edited, LIVE, **compared_with(runs, reading))


def trains_alike(runs: Runs, reading: Reading, other: Reading) -> bool:
    """Whether two readings of the code, both of which ran, make the same steps of the same gradients."""
    one, two = runs.of(reading), runs.of(other)
    return not (comparable(one) or comparable(two) or differences(one, two, LIVE))


def agrees(runs: Runs) -> bool:
    """Whether the edit's own run made steps that the unedited one did not come to, and none that is not the code's."""
    further = len(runs.edited.steps) > sum(runs.case.pool.baseline.counts)
    return further and not comparable(runs.letter) and first_departing(runs.letter, runs.edited) is None


def departs(runs: Runs) -> bool:
    """Whether the live run of an edit departs from every reading, and not by newer parameters."""
    letter, pool = runs.letter, runs.case.pool
    if len(pool.letters.readings) > 1 or comparable(letter) or not _cuts_or_loses(letter, runs.edited):
        return False
    return all(differences(runs.of(one), runs.edited, LIVE) for one in pool.readings())


class _Comparison:
    """The runs of one edit beside the references."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._pool = runs.case.pool
        self._offered = runs.case.offered
        self._letters = self._pool.letters
        self._live = runs.edited
        self._live_tolerance, self._frozen_tolerance = (FOLLOWED, FOLLOWED) if runs.through_numpy else (LIVE, FROZEN)

    def assessment(self) -> Assessment:
        """The effect: by the live run where that decides it, else by the frozen one against each letter."""
        if (decided := self._without_frozen()) is not None:
            return decided
        if self._is_refuted_at_rest():
            return self._unless_noisy(self._departing_live())
        frozen = self._frozen()
        if not frozen.ended_well:
            still = (self._runs.of(letter, Treatment.FROZEN) for letter in self._letters.readings)
            exact = self._exactly(as_they_are=True) if all(map(comparable, still)) else None
            return exact or _unknown(_ended(frozen))
        found = [self._unless_weighed_otherwise(letter, frozen) for letter in self._letters.readings]
        equal = [one for one in found if one.effect.keeps_gradients]
        if equal and (len(equal) < len(found) or self._letters.void) and not self._letters.alike:
            return one_of_two(self._runs, equal[0])
        best = (equal or found)[0]
        if best.effect is not Effect.CHANGED:
            return with_reading(self._runs, best)
        if self._letters.void:
            return none_of_them(self._runs, best)
        return with_reading(self._runs, self._unless_noisy(best))

    def _unless_noisy(self, found: Assessment) -> Assessment:
        """That an edit changes gradients, if two runs of the reference do not."""
        noise = self._noise() if found.reading is None else ""
        return replace(found, effect=Effect.UNKNOWN, sentence=noise) if noise else found

    def _frozen(self) -> wire.Trace:
        """The run with every step undone, side by side with all references that it is compared with."""
        edited = RunSpec.edited(self._runs.files, Treatment.FROZEN)
        letters = [RunSpec.reference(letter, Treatment.FROZEN) for letter in self._letters.readings]
        others = (RunSpec.reference(one, Treatment.FROZEN) for one in self._pool.readings())
        self._pool.expect(*letters, edited, *others)
        return self._pool.get(edited)

    # By the live run alone ------------------------------------------------------------------------------------------

    def _without_frozen(self) -> Assessment | None:
        letter = self._runs.letter
        if reason := unjudged(self._runs):
            return _unknown(reason)
        if self._runs.converts and (gone := vanished(letter, self._live)):
            return changed(self._runs, gone, letter)
        if (exact := self._exactly()) is not None:
            return exact
        live, within = self._live, self._live_tolerance
        cut = (cuts_the_graph(self._runs.of(one), live, within) for one in self._pool.readings())
        if not self._letters.void and all(cut):
            # Leaves that only one run holds are compared by the frozen runs.
            apart = differences(letter, live, within)
            small = of_rounding(apart, (state.name for state in letter.states))
            return changed(self._runs, apart, letter) if apart and not small else None
        return None

    def _exactly(self, *, as_they_are: bool = False) -> Assessment | None:
        """The effect where a candidate equals a reference to the last bit, from perturbed parameters; else None.

        Both then did the same at every step, and nothing was hidden by a zero. That says enough of an edit that a rule
        made. In one by somebody else an operation may be another, and yet give the same while values are as they are (a
        clamp that does not bind): frozen runs, which wander further, have to agree too.

        `as_they_are`: the script asserts what parameters hold, and no reference goes on once these are moved beside it.
        Then it is enough that steps have moved away all that was zero.
        """
        if not _decides_live(self._runs):
            return None
        for one in self._pool.readings():
            if _to_the_last_bit(self._runs, one, as_they_are=as_they_are):
                return with_reading(self._runs, equal_to(self._runs, one, same_live=True))
        return None

    # At rest ----------------------------------------------------------------------------------------------------------

    def _is_refuted_at_rest(self) -> bool:
        """Whether, of a slow script, runs in which parameters rest show that an edit of a rule equals no reading.

        What differs while nothing moves is no newer parameter, and runs in which they drift would differ, too. A
        reading with a step that uses no gradient, where the edit has one, is ruled out by the live runs. One step
        beyond the failure has what outlived the round before it: what departs only later is left to the others.
        """
        pool, letter = self._pool, self._runs.letter
        single = len(self._letters.readings) == 1 and not self._letters.void
        if self._offered or pool.quick or not single or not self._outlived(letter):
            return False
        live = [one for one in pool.readings() if not motion.trains_where_it_starves(self._runs.of(one), self._live)]
        if letter.steps == () or any(not self._departs(self._runs.of(one), self._live) for one in pool.readings()):
            return False
        how = (Treatment.STILL, Intervention.BRIEF)
        pool.expect(RunSpec.edited(self._runs.files, *how))
        pool.expect(*(RunSpec.reference(one, *how) for one in live))
        mine = self._runs.of_edit(*how)
        return mine.ended_well and all(self._departs(self._runs.of(one, *how), mine) for one in live)

    def _departs(self, reference: wire.Trace, edited: wire.Trace) -> bool:
        """Whether a run departs by more than rounding, draws and writes that moved."""
        if comparable(reference) or motion.moves_draws(reference, edited):
            return False
        by_hand = motion.written_by_hand(reference, owned=True) or motion.written_by_hand(reference, owned=False)
        apart = departures(reference, edited, self._live_tolerance)
        return bool(apart) and not by_hand and not of_rounding(apart)

    def _departing_live(self) -> Assessment:
        letter = self._runs.letter
        also = compared_with(self._runs, self._letters.first)
        return changed(self._runs, differences(letter, self._live, self._live_tolerance, **also), letter)

    # By the frozen run ----------------------------------------------------------------------------------------------

    def _unless_weighed_otherwise(self, letter: Reading, frozen: wire.Trace) -> Assessment:
        """The effect against a meaning; where gradients are clipped, only its loss tells a mean from a sum."""
        found = self._against(letter, frozen)
        if not found.effect.keeps_gradients or not (apart := _weighed_otherwise(self._runs, letter)):
            return found
        want, have = apart
        note = f"the loss is {have[0]:.4g} instead of {want[0]:.4g}, although gradients of one size are used"
        return Assessment(Effect.CHANGED, f"changed: {note}", (Change("", note=note),))

    def _against(self, letter: Reading, frozen: wire.Trace) -> Assessment:
        """The effect against one meaning of what torch refuses, where it has more than one."""
        full, also = self._runs.of(letter), compared_with(self._runs, letter)
        still = {one: self._runs.of(one, Treatment.FROZEN) for one in self._pool.readings(letter)}
        readings = [one for one, reference in still.items() if not comparable(reference)]
        if not readings:
            return _unknown(comparable(still[letter]))
        at_ends = not also["leaves"] and not full.steps
        equal = [
            one for one in readings if at_ends or not differences(still[one], frozen, self._frozen_tolerance, **also)
        ]
        if not equal and self._same_but_for_rounding(readings[0], frozen, also):
            return equal_to(self._runs, readings[0], same_live=True)
        if not equal and (paired := self._with_draws_paired(still[readings[0]], frozen, readings, also)):
            return paired
        if not equal and self._writes_later(still[readings[0]], frozen, readings[0], also):
            return equal_to(self._runs, readings[0], same_live=False)
        for one in equal:
            if same_or_rounded(self._runs.of(one), self._live, self._live_tolerance, **also):
                return equal_to(self._runs, one, same_live=True)
        by_hand = not full.counts and frozen.undone
        later = not also["printed"] or (by_hand and frozen.undone >= still[readings[0]].undone)
        newer = (self._equal_for_long(equal, also) if equal else self._equal_at_rest(readings)) if later else ()
        newer = [one for one in newer if _may_be_newer(self._runs, one)] or self._equal_at_part_rest(readings, also)
        for one in newer:
            # Where nothing that learns is behind what outlives a round, only the drift moved it.
            return equal_to(self._runs, one, same_live=_to_the_last_bit(self._runs, one))
        if self._projects_elsewhere(readings[0], also):
            return equal_to(self._runs, readings[0], same_live=True)
        return self._departing(self._runs.of(readings[0]), self._live, still[readings[0]], frozen, also)

    def _same_but_for_rounding(self, reading: Reading, frozen: wire.Trace, also: Mapping[str, bool]) -> bool:
        """Whether only gradients differ that are zero, and what rounding left of them: of a bias before a softmax.

        An edit that computes the same in another order rounds otherwise. That is told by runs in which parameters start
        a trifle farther: there such gradients are others, and one that is only small hardly changes. What they move may
        show live: in such gradients of layers behind, and in states that are the same while each step is undone.
        """
        runs, how = self._runs, (Treatment.FROZEN, Intervention.FARTHER)
        still, full = runs.of(reading, Treatment.FROZEN), runs.of(reading)
        small = of_rounding(departures(still, frozen, self._frozen_tolerance, **also))
        live = departures(full, self._live, self._live_tolerance, **also)
        behind = of_rounding(live, compared_ends(still, frozen))
        if not small or (live and not behind):
            return False
        names = small | behind
        farther, edited = runs.of(reading, *how), runs.of_edit(*how)
        if comparable(farther) or not edited.ended_well:
            return False
        return rounded(still, frozen, farther, names) and rounded(frozen, still, edited, names)

    def _projects_elsewhere(self, reading: Reading, also: Mapping[str, bool]) -> bool:
        """Whether the edit only moves a write by hand that keeps what an optimizer owns in a set, to the last bit.

        Weights that are clamped or normalised where they are used, and in the edit after each step, are the same, but
        not if they are moved out of their set between the two: as where they start beside it, and the edit has written
        nothing yet. What departs later, no start has moved.
        """
        if not motion.moves(self._runs.letter) or not motion.written_by_hand(self._runs.of(reading), owned=True):
            return False
        if not motion.departs_at_start(self._runs.of(reading), self._live):
            return False
        unmoved = self._runs.of(reading, intervention=Intervention.UNMOVED)
        edited = self._runs.of_edit(intervention=Intervention.UNMOVED)
        compare = edited.ended_well and not comparable(unmoved) and motion.written_by_hand(unmoved, owned=True)
        return compare and same_projections(unmoved, edited, **also)

    def _writes_later(
        self, still: wire.Trace, frozen: wire.Trace, reading: Reading, also: Mapping[str, bool]
    ) -> bool:  # fmt: skip
        """Whether the edit only moves an update by hand of what no optimizer owns from before a step behind it.

        Then a teacher follows parameters one update newer. It is told by a drift that comes only where a forward next
        uses parameters: the letter is the same under it, which it were not if it had made its updates behind the step.
        """
        if also["printed"] or not still.steps or not same_shape(still, frozen) or not motion.keeps_up_others(still):
            return False
        if _cuts_or_loses(self._runs.of(reading), self._live):
            return False
        # What it holds between the steps, and at the end of a run, is another, and nothing uses it.
        late = replace(self._runs.of(reading, Treatment.FROZEN, Intervention.LATE), held=())
        if comparable(late) or differences(replace(still, outcome="stopped", held=()), late, FROZEN):
            return False
        edited = self._runs.of_edit(Treatment.FROZEN, Intervention.LATE)
        return edited.ended_well and not differences(late, edited, FROZEN)

    def _with_draws_paired(
        self, still: wire.Trace, frozen: wire.Trace, readings: Sequence[Reading], also: Mapping[str, bool]
    ) -> Assessment | None:
        """The effect of an edit that draws the same random numbers elsewhere: each kind in its order is paired then.

        Whichever draws of both are paired, where they then train the same they train the same. So it is of one whose
        dropouts drop something else of the same shape, but where they then differ nothing is said: None.
        """
        moved = motion.moves_draws(still, frozen)
        if not (moved or motion.drops_otherwise(still, frozen)):
            return None
        undone, moving = ((treatment, Intervention.ORDERED) for treatment in (Treatment.FROZEN, Treatment.LIVE))
        runs, tolerance = self._runs, self._live_tolerance
        self._pool.expect(*(RunSpec.reference(one, *undone) for one in readings))
        for one in readings:
            paired = runs.of(one, *undone)
            if comparable(paired) or differences(paired, runs.of_edit(*undone), self._frozen_tolerance, **also):
                continue
            if same_or_rounded(runs.of(one), self._live, tolerance, **also):
                return equal_to(runs, one, same_live=True)
            full, live = runs.of(one, *moving), runs.of_edit(*moving)
            same = not differences(full, live, tolerance, **also)
            if same or (not also["printed"] and _are_newer(full, live)):
                return equal_to(runs, one, same_live=same)
        if not moved:
            return None
        first, live = readings[0], runs.of_edit(*moving)
        return self._departing(runs.of(first, *moving), live, runs.of(first, *undone), runs.of_edit(*undone), also)

    def _departing(
        self, full: wire.Trace, live: wire.Trace, still: wire.Trace, frozen: wire.Trace, also: Mapping[str, bool]
    ) -> Assessment:  # fmt: skip
        """The effect of an edit that departs from a reading: where it does live, else with steps undone.

        Where it then gives all gradients, and something else holds other values, live gradients are only newer.
        """
        apart = differences(full, live, self._live_tolerance, **also)
        undone = differences(still, frozen, self._frozen_tolerance, **also)
        states = bool(undone) and bool(still.steps) and all(one.note for one in undone)
        found = changed(self._runs, undone if states or not apart else apart, full)
        return replace(found, sentence=f"{found.sentence}{other_draws(still, frozen)}")

    def _equal_at_rest(self, readings: list[Reading]) -> list[Reading]:
        """Readings that the edit equals while parameters do not drift from round to round.

        For scripts whose own fault is a graph that outlives a round: made anew, it cannot equal its stale self under
        drift. Then the graphs behind each step's gradients must be made of the same operations.
        """
        drifting = self._frozen()
        readings = [one for one in readings if same_shape(self._runs.of(one, Treatment.FROZEN), drifting, TAKES)]
        if not readings or not self._outlived(self._runs.of(readings[0])):
            return []
        known = {one for one in readings if self._pool.made(RunSpec.reference(one))}
        if not (readings := [one for one in readings if one not in known or _may_be_newer(self._runs, one)]):
            return []
        specs = (RunSpec.reference(one, Treatment.STILL) for one in readings)
        self._pool.expect(RunSpec.edited(self._runs.files, Treatment.STILL), *specs)
        mine = self._runs.of_edit(Treatment.STILL)
        stills = {one: self._runs.of(one, Treatment.STILL) for one in readings}
        return [
            one
            for one, still in stills.items()
            if not comparable(still)
            and not differences(still, mine, self._frozen_tolerance)
            and same_shape(still, mine, TAKES)
        ]

    def _equal_for_long(self, equal: Sequence[Reading], also: Mapping[str, bool]) -> list[Reading]:
        """Those of the readings that the edit also equals, with steps undone, where it departs live.

        Of a slow script runs with steps undone end sooner. What they never came to no newer parameters explain yet.
        """
        how, found = (Treatment.FROZEN, Intervention.WHOLE), []
        for one in equal:
            if _comes_to_departing(self._runs, one, self._frozen()):
                found.append(one)
                continue
            still, frozen = self._runs.of(one, *how), self._runs.of_edit(*how)
            same = frozen.ended_well and not comparable(still) and _comes_to_passes(self._runs.edited, frozen)
            found += [one] if same and not differences(still, frozen, self._frozen_tolerance, **also) else []
        return found

    def _equal_at_part_rest(self, readings: Sequence[Reading], also: Mapping[str, bool]) -> list[Reading]:
        """Readings as which the edit trains, live, while those parameters rest of which it makes something anew.

        They are those of what several passes share: the code makes it once, and applies them nowhere else.
        """
        return [one for one in readings if not also["printed"] and self._is_equal_at_part_rest(one, also)]

    def _is_equal_at_part_rest(self, reading: Reading, also: Mapping[str, bool]) -> bool:
        full = self._runs.of(reading)
        owned = enumerate(full.names[: len(full.counts)])
        about = tuple((index, at) for index, names in owned for at, name in enumerate(names) if name in full.inside)
        if not (full.reused and about) or _cuts_or_loses(full, self._live):
            return False
        one = replace(RunSpec.reference(reading, intervention=Intervention.RESTING), about=about)
        other = replace(RunSpec.edited(self._runs.files, intervention=Intervention.RESTING), about=about)
        self._pool.expect(one, other)
        resting, mine = self._pool.get(one), self._pool.get(other)
        compare = mine.ended_well and not comparable(resting)
        return compare and not differences(resting, mine, self._live_tolerance, **also)

    def _outlived(self, full: wire.Trace) -> bool:
        """Whether the graph in question was made before a round ended, so that a drift moves what it is of."""
        if full.seen("stale") or full.reused:
            return True
        failed = self._pool.baseline.backward_count
        wrote = {write.optimizer for saved in self._runs.trace.saved for write in saved.writes if write.optimizer >= 0}
        if self._runs.freed_by and not self._offered:
            # A rule first keeps the graph, and meets what the step wrote only then.
            wrote |= {step.optimizer for step in full.steps if step.calls == failed - 1}
        return bool(wrote) and (len(full.counts) == 1 or motion.ends_a_round(full, failed, wrote))

    def _noise(self) -> str:
        """'' if two reference runs agree; else why no comparison can be believed."""
        letter = self._runs.letter
        if not self._pool.quick and self._draws_alike(self._pool.get(UNEDITED)):
            return ""
        again = self._once_more()
        if again.counts == letter.counts:
            found = bool(differences(letter, again, LIVE))
        else:  # of a slow script it ended sooner, and is compared as far as it came
            found = not same_gradients(letter, replace(again, parted=True))
        return "two runs of the unedited script differ: it draws on something unseeded" if found else ""

    def _draws_alike(self, failed: wire.Trace) -> bool:
        """Whether the unedited script came to its failure with the gradients of the reference, in a run of its own."""
        return bool(failed.steps) and same_gradients(self._runs.letter, replace(failed, parted=True))

    def _once_more(self) -> wire.Trace:
        """A second run of the reference: the one that a law asks for next, where one does."""
        asked = self._runs.may_be_data and len(self._letters.readings) == 1
        if asked and not comparable(self._runs.sourced):
            return self._runs.sourced
        return self._runs.of(self._runs.code, intervention=Intervention.REPEATED)


def _decides_live(runs: Runs) -> bool:
    """Whether a live run that equals a reading to the last bit says enough: of an edit that a rule made of one code."""
    letters = runs.case.pool.letters
    return not runs.case.offered and len(letters.readings) == 1 and not letters.void


def _to_the_last_bit(runs: Runs, reading: Reading, *, as_they_are: bool = False) -> bool:
    """Whether the edit equals a reading live, with parameters that move, and no zero hides a gradient."""
    letter, reference = runs.letter, runs.of(reading)
    shown = motion.hides_nothing(letter) if as_they_are else letter.intact and runs.edited.intact
    if comparable(reference) or not (motion.moves(letter) and shown) or _weighed_otherwise(runs, reading):
        return False
    return not differences(reference, runs.edited, EXACT, **compared_with(runs, reading))


def _weighed_otherwise(runs: Runs, reading: Reading) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """The first losses of a reading and of the edit that differ, where it matters what each value of a loss counts."""
    full = runs.of(reading)
    if runs.case.pool.letters.alike or not weighed(full):
        return None
    after = runs.before_failure
    pairs = zip(losses(full, after), losses(runs.edited, after), strict=False)
    return next(((want, have) for want, have in pairs if want and have and not same_values(want, have)), None)


def _cuts_or_loses(reference: wire.Trace, edited: wire.Trace) -> bool:
    """Whether an edit can be no refreshment: only its graph is another, or a write is gone."""
    return cuts_the_graph(reference, edited) or bool(lost_writes(reference, edited))


def _may_be_newer(runs: Runs, reading: Reading) -> bool:
    """Whether, by the live runs, an edit may be that reading with newer parameters."""
    return _are_newer(runs.of(reading), runs.edited)


def _are_newer(live: wire.Trace, edited: wire.Trace) -> bool:
    """Whether newer parameters may be all that is otherwise in the live run of an edit."""
    return not (_cuts_or_loses(live, edited) or moved_otherwise(live, edited) or takes_another_turn(live, edited))


def _comes_to_departing(runs: Runs, reading: Reading, frozen: wire.Trace) -> bool:
    """Whether a run with steps undone comes to the step at which the edit departs live from a reading.

    And to all that the edit wrote: a phase that begins with a small loss never begins where no step lasts.
    """
    departing = first_departing(runs.of(reading), runs.edited)
    if departing is None:
        return True
    comes = departing[2] < sum(s.optimizer == departing[0].optimizer for s in _events(frozen))
    return comes and _comes_to_passes(runs.edited, frozen)


def _comes_to_passes(live: wire.Trace, frozen: wire.Trace) -> bool:
    """Whether a run with steps undone executed each changed place that the live one did before its last backward."""
    still = {(path, place) for path, some in frozen.executed.items() for place in some}
    ran = ((path, *pair) for path, some in live.executed.items() for pair in zip(some, live.latest[path], strict=True))
    return all((path, place) in still for path, place, calls in ran if calls < live.backward_count)


def _unknown(reason: str) -> Assessment:
    return Assessment(Effect.UNKNOWN, reason)


def _events(trace: wire.Trace) -> Sequence[wire.Step]:
    return trace.steps or trace.leaves


def _ended(frozen: wire.Trace) -> str:
    """What a run with steps undone died of, and where."""
    at = frozen.failure.stack[:1] if frozen.failure is not None else ()
    place = "".join(f" at line {frame.line} of {frame.file.rsplit('/', 1)[-1]}" for frame in at)
    why = frozen.reason or frozen.outcome.replace("_", " ")
    return f"a further run, which moves each parameter a little in place of the steps, did not end well: {why}{place}"
