"""Why nothing can be said of an edit, although its run got past the failure: what no run shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autofix.core.model import Reading, Treatment
from autofix.experiments.compare import comparable, failed_with, figures
from autofix.experiments.later import died_early
from autofix.experiments.readings.letters import unsaid
from autofix.experiments.values import taken_otherwise
from autofix.probe import wire
from autofix.verdict.parts.branches import copied, ran_alike, refused_alike
from autofix.verdict.parts.by_kind import by_kind, inlined
from autofix.verdict.runs import Runs, lines

_REACH, _OR_LESS = "run the script with arguments that reach it", ", or leave that part out of the edit"


def unjudged(runs: Runs) -> str:
    """Why nothing can be said of the edit; '' where something can."""
    letter, pool = runs.letter, runs.case.pool
    return (
        unsaid(runs.case.diagnosis, letter)
        or comparable(letter)
        or _without_step(letter)
        or _never_trains(runs)
        or pool.unproven
        or pool.too_few
        or _unseen(letter, pool.baseline)
        or _unread(runs)
    )


def _without_step(letter: wire.Trace) -> str:
    """Why no gradient that an optimizer uses can be compared, although there is one; '' where one steps, or none is."""
    if not (died_early(letter) and letter.counts):
        return ""
    return f"behind the failure the script dies of something else before any step: {failed_with(letter)}"


def _unseen(letter: wire.Trace, first: wire.Trace) -> str:
    """Why nothing after the failure can be compared; '' where something can."""
    before = first.backward_count - (first.failure is not None and first.failure.in_backward)
    passed = letter.counts != first.counts if letter.steps else len(letter.leaves) > before
    if passed or figures(letter.stdout) > figures(first.stdout):
        return ""
    return "after the failing line there is nothing to compare: no step, no gradient of a leaf, no printed number"


def _never_trains(runs: Runs) -> str:
    """Why a loss that is a number may be meant otherwise: no pass shows what it trains; '' where one does."""
    if not runs.case.pool.spares:
        return ""
    letter = runs.letter
    owned = {name for index in range(len(letter.counts)) for name in letter.parameters(index)}
    failing = (one for one in letter.reaches if lines(one.stack) == lines(runs.failure.stack))
    trains = any(not owned.isdisjoint(one.parameters) for one in failing)
    return (
        "" if trains else "this loss has no graph in any iteration compared: the code does not say what it should train"
    )


def _unread(runs: Runs) -> str:
    """Which changed file the runs never loaded as code; '' where there is none."""
    for path in runs.files if runs.case.offered else ():
        if str(path) not in runs.edited.marked.keys() | runs.letter.marked.keys():
            return f"the edit changes {path.name}, which was not loaded in the iterations compared"
    return ""


def unreached(runs: Runs, reading: Reading) -> tuple[str, str]:
    """Why an edit that equals a reading may not do so elsewhere, as a part of it never ran; '' where that is judged.

    And what is said where another line was judged instead of it, or runs to the end of the script.
    """
    found = list(_unexecuted(runs, runs.letter, runs.edited))
    never = "never ran in the iterations compared"
    alone = [where for where, line in found if not line]
    if alone and _is_kept_to_the_end(runs, reading):
        return "", f"Judged in runs to the end of the script, in which loops end early: {alone[0]} {never}"
    why = next((f"{where} {never}: {_REACH}{_OR_LESS * runs.case.offered}" for where in alone), "")
    return why, next(
        (f"Not judged: {where} {never}; line {line} does the same instead of it" for where, line in found), ""
    )


def _is_kept_to_the_end(runs: Runs, reading: Reading) -> bool:
    """Whether each part of the edit ran on the way to the end of the script, and trained and gave the same numbers.

    So they do in runs whose steps last, for what brings back older weights, or sets a rate, does nothing where they are
    undone; and where they are undone, from perturbed starts, for a layer that starts at zero hides what lies behind it.
    """
    for treatment in (Treatment.LIVE, Treatment.FROZEN):
        made = runs.to_the_end(reading, treatment)
        if made is None or not made.are_alike or made.code.stdout != made.edited.stdout:
            return False
        left = any(not line for _, line in _unexecuted(runs, made.code, made.edited))
        if left or taken_otherwise(made.code, made.edited):
            return False
    return True


def _unexecuted(runs: Runs, code: wire.Trace, edited: wire.Trace) -> Iterator[tuple[str, int]]:
    """Each changed statement that no run reached, in words, and the line that was judged for both, or 0."""
    for trace, verb in ((edited, "writes"), (code, "removes")):
        which = "the edited " if trace is edited else ""
        for path, places in trace.marked.items():
            ran = {place // wire.COLUMNS for place in trace.executed.get(path, ())}
            for line in sorted({place // wire.COLUMNS for place in set(places) - set(trace.executed.get(path, ()))}):
                old, new = runs.case.pool.target.read(Path(path)), runs.files.get(Path(path), b"")
                like = ran_alike(old, new, line, ran, before=verb == "removes")
                for judged in (copied, refused_alike, by_kind, inlined) if verb == "writes" else ():
                    like = like or judged(old, new, line, ran)
                yield f"the edit {verb} line {line} of {which}{Path(path).name}, which", like
