"""The evidence on one edit: its runs, and what they say that it does to the gradients."""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Answer, Assessment, Effect, Question, Reading
from autofix.experiments.compare import differences
from autofix.experiments.sketches import LIVE
from autofix.experiments.spec import RunSpec
from autofix.experiments.unwritten import without_zeros
from autofix.probe import wire
from autofix.verdict.effect import assess, follows
from autofix.verdict.left_open.aims import with_constants
from autofix.verdict.left_open.in_turn import with_both
from autofix.verdict.left_open.other_name import with_copy
from autofix.verdict.left_open.own_output import with_input
from autofix.verdict.left_open.start import with_start
from autofix.verdict.left_open.two_losses import with_own
from autofix.verdict.meant import meant
from autofix.verdict.runs import Runs, once
from autofix.verdict.to_come import may_do_otherwise
from autofix.verdict.wording import whose


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
    def prints_alike(self) -> bool:
        """Whether runs are to print the same: so far they do, and no file of the program knows what time it is."""
        known = (source.imported for source in self.sources.project(str(self.case.pool.target.script)))
        clocks = any(name.startswith(("time", "datetime", "perf_counter")) for names in known for name in names)
        return not clocks and not differences(self.followed, self.edited, LIVE, printed=True)

    @once
    def may_go_on(self) -> bool:
        """Whether runs that go on may show more: the program did not end, and may do later what it does not do now.

        What another reading takes for a constant is known of the passes compared alone.
        """
        reading, runs = self.reading, (self.letter, self.edited)
        stopped = "stopped" in (one.outcome for one in runs)
        files = self.sources.project(str(self.case.pool.target.script))
        return stopped and replace(reading, truncated=False) == reading.letter and may_do_otherwise(files)

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

    @once
    def _unanswered(self) -> Assessment:
        found = with_constants(self, meant(self, assess(self)))
        for told in (with_own, with_input, with_start, with_copy, with_both):
            if found.effect is Effect.CHANGED and found.reading is None:
                found = told(self, found)
        return found
