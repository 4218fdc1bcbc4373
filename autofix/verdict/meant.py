"""The one reading that the laws leave: where the code as written cannot be meant, and everything else is ruled out."""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Assessment, Effect, Reading
from autofix.experiments.compare import comparable
from autofix.verdict.effect import computes_newer, follows, trains_alike
from autofix.verdict.law import Word, is_broken, laws, worse
from autofix.verdict.runs import Runs
from autofix.verdict.wording import what_is_newer, whose


def meant(runs: Runs, found: Assessment) -> Assessment:
    """The effect of an edit that leaves the letter, raised to *meant* if its reading is the only one left.

    It is if a law breaks the letter and keeps this reading, no law breaks this reading, and every other reading ran and
    is broken or trains the same. That the edit equals the reading says that it equals the letter in all else.
    """
    letters = runs.case.pool.letters
    if found.effect is Effect.REFRESHED and (why := worse(runs, replace(runs.code, constant=True))):
        other = f"The code could also mean that what was computed once is a constant, but then {why}"
        return replace(found, sentence=f"{found.sentence}. {other}")
    departs = found.effect is Effect.CHANGED or (found.effect is Effect.TRUNCATED and runs.letter.reused)
    if not departs or letters.void or len(letters.readings) > 1:
        return found
    for law in laws():
        letter = law.says(runs, runs.code)
        if letter.word is not Word.BROKEN:
            continue
        known = [found.reading] if found.reading is not None else []
        for reading in dict.fromkeys((*known, *law.readings(runs))):
            if law.says(runs, reading).word is Word.KEPT and _is_left(runs, reading) and follows(runs, reading):
                # What is no longer cut has to be computed again, whole: nobody asks what else may have been meant.
                newer = not reading.uncut and computes_newer(runs, reading)
                sentence = (
                    f"the gradients become those that are meant. As written, {letter.sentence}. With the edit, "
                    f"{law.clause}. Apart from that, {whose(runs)} those of the code"
                    f"{f', with newer parameters: {what_is_newer(runs)}' if newer else ''}"
                )
                return replace(found, effect=Effect.MEANT, sentence=sentence, reading=reading, newer=newer)
    return found


def _is_left(runs: Runs, reading: Reading) -> bool:
    """Whether no law breaks a reading, and each other one ran, and is broken or trains the same."""
    if is_broken(runs, reading):
        return False
    others = dict.fromkeys((reading, *runs.case.pool.readings()))
    for law in laws():
        others |= dict.fromkeys(law.readings_beside(runs, others))
    return all(
        not comparable(runs.of(other)) and (is_broken(runs, other) or trains_alike(runs, other, reading))
        for other in others
        if other != reading
    )
