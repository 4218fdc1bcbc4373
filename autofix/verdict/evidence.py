"""The evidence on one edit: its runs, and what they say that it does to the gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autofix.core.model import Answer, Assessment, Effect, Question, Reading, Treatment
from autofix.experiments.compare import comparable, same_or_rounded, shows_otherwise
from autofix.experiments.sketches import FROZEN, LIVE
from autofix.experiments.spec import Intervention, RunSpec
from autofix.experiments.unwritten import without_zeros
from autofix.probe import wire
from autofix.verdict.effect import assess, follows
from autofix.verdict.left_open.aims import with_constants
from autofix.verdict.left_open.in_turn import with_both
from autofix.verdict.left_open.other_name import with_copy
from autofix.verdict.left_open.own_output import with_input
from autofix.verdict.left_open.start import with_start
from autofix.verdict.meant import meant
from autofix.verdict.runs import Runs, once
from autofix.verdict.wording import whose

WAYS = (Treatment.LIVE, Treatment.FROZEN, Treatment.STILL)


@dataclass(frozen=True, slots=True)
class Shortened:
    """Two runs, of the code and of the edit, in which the same loops ended early."""

    code: wire.Trace
    edited: wire.Trace
    tolerance: float

    @property
    def are_alike(self) -> bool:
        """Whether both train the same."""
        return _are_alike(self.code, self.edited, self.tolerance)


class Evidence(Runs):
    """All that a property may ask."""

    @once
    def assessment(self) -> Assessment:
        """What the edit does to the gradients; as meant, where it follows an answer."""
        found = self._unanswered
        if found.effect.keeps_gradients or not (followed := [one for one in self.case.answered if self.follows(one)]):
            return found
        clauses = " and ".join(one.answer.clause for one in followed if one.answer is not None)
        sentence = f"as was answered, {clauses}. Apart from that, {whose(self)} those of the code"
        reading = next((one.answer.means for one in followed if one.answer is not None), None)
        return replace(found, effect=Effect.MEANT, sentence=sentence, reading=reading, changes=())

    @property
    def assessed(self) -> Assessment | None:
        """The same, if it is known already."""
        return vars(self).get("assessment")

    @once
    def followed(self) -> wire.Trace:
        """The reference of that reading."""
        return self.of(self.reading)

    @property
    def reading(self) -> Reading:
        """The reading that the edit equals; the code as it is written where it equals none."""
        return self.assessment.reading or self.code

    @once
    def without_zeros(self) -> wire.Trace | None:
        """The same of the code in which what a zero of the text multiplies is cut; None where there is no such zero."""
        files = {} if self.reading.rewritten else without_zeros(self.case.pool.target, self.files)
        return self.case.pool.get(replace(RunSpec.edited(files), reading=self.reading)) if files else None

    def follows(self, question: Question, answer: Answer | None = None) -> bool:
        """Whether the edit equals the reading that an answer names, else the one that was chosen."""
        found, answer = self._unanswered, answer or question.answer
        if answer is None or not self.case.passed(self.edited):
            return False
        if answer.means is None:
            return found.effect is Effect.REFRESHED
        if question.shows and self.shows_otherwise(answer.means):
            return False
        if found.reading == answer.means:
            return True
        return answer.means != answer.means.letter and follows(self, answer.means)

    def shows_otherwise(self, reading: Reading) -> str:
        """What the edit shows otherwise than a reading, with loops that train ended early; '' where nothing."""
        specs = RunSpec.reference(reading), RunSpec.edited(self.files)
        both = [replace(spec, intervention=Intervention.THROUGH) for spec in specs]
        self.case.pool.expect(*both)
        return shows_otherwise(*map(self.case.pool.get, both))

    def shortened(self, how: Intervention, ways: Sequence[Treatment] = WAYS) -> Shortened | None:
        """Both runs with loops that train ended early: they come to what the compared passes do not.

        They are treated in the first of some ways in which the edit equals the code in the passes compared. None where
        it does so in none, where the short code does not run, and where not the same loops end.
        """
        for treatment in ways:
            tolerance = LIVE if treatment is Treatment.LIVE else FROZEN
            both = self.of(self.reading, treatment), self.of_edit(treatment)
            if not _are_alike(*both, tolerance):
                continue
            specs = [
                replace(spec, treatment=treatment, intervention=how)
                for spec in (RunSpec.reference(self.reading), RunSpec.edited(self.files))
            ]
            self.case.pool.expect(*specs)
            code, edited = map(self.case.pool.get, specs)
            alike = _ended_alike(both, (code, edited)) and not comparable(code)
            return Shortened(code, edited, tolerance) if alike else None
        return None

    @once
    def _unanswered(self) -> Assessment:
        found = with_constants(self, meant(self, assess(self)))
        for told in (with_input, with_start, with_copy, with_both):
            if found.effect is Effect.CHANGED and found.reading is None:
                found = told(self, found)
        return found


def _are_alike(code: wire.Trace, edited: wire.Trace, tolerance: float) -> bool:
    """Whether two runs that ended well train the same, but for what rounding leaves."""
    return edited.ended_well and not comparable(code) and same_or_rounded(code, edited, tolerance)


def _ended_alike(whole: tuple[wire.Trace, wire.Trace], short: tuple[wire.Trace, wire.Trace]) -> bool:
    """Whether the same loops ended early in the code and in the edit, as far as that came; a limit is no end."""
    code, edited = ({*now.notes} - {*then.notes} for now, then in zip(short, whole, strict=True))
    return edited <= code if short[1].failure else edited == code and short[1].ended_well
