"""A tensor that is written by a second name, and the reading in which what the first one stands for keeps its value."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from autofix.core.model import Reading
from autofix.experiments.compare import comparable, differences
from autofix.experiments.readings.letters import OPERATION
from autofix.experiments.sketches import LIVE
from autofix.experiments.spec import Intervention, RunSpec
from autofix.probe import wire
from autofix.syntax import edits
from autofix.syntax.edits import held_name, second_is_met, second_name, walked_data, written_name
from autofix.verdict.runs import Runs

Named: TypeAlias = tuple[str, wire.Stack]
"""What is written by another name and read later, with the place of the write; '' where nothing is."""

NOTHING: Named = "", ()


def told(runs: Runs) -> tuple[str, Named]:
    """The property that speaks of the first of all that follow, and what that is; '' where nothing is."""
    if runs.case.pool.written["copied"]:
        for about, named in (
            ("other-name-is-written", by_write),
            ("leaf-has-another-name", of_leaf),
            ("lasting-tensor-is-written", lasting),
            ("held-tensor-is-written", by_holder),
        ):
            if (found := named(runs))[0]:
                return about, found
    return "", NOTHING


def by_write(runs: Runs) -> Named:
    """A second name of what is written so that a saved tensor is spoiled, also where the whole of it is written."""
    named = ((second_name(runs.sources, stack), stack[:1]) for stack in spoiled(runs))
    return next((one for one in named if one[0]), NOTHING)


def of_leaf(runs: Runs) -> Named:
    """An older name of the leaf that is written, else the attribute that holds it."""
    written = runs.case.pool.leaf_written
    if not written:
        return NOTHING
    name = second_name(runs.sources, written, older=True) or (_holder(runs) if runs.code.refused is OPERATION else "")
    # Who hands an input to a module does not have it updated.
    handed = "" if name or not runs.letter.seen("written-by-module") else second_name(runs.sources, written)
    return name or handed, written[:1]


def _holder(runs: Runs) -> str:
    """The attribute whose leaf a variable writes to, in a forward by which something learns, also if it is a copy."""
    name, other = edits.lent_leaf(runs.sources, runs.case.pool.leaf_written), replace(runs.code, copied=True)
    return name if name and not runs.deprives(other) else ""


def lasting(runs: Runs) -> Named:
    """What outlives the pass that gives it a second name."""
    if runs.case.pool.leaf_written:
        return NOTHING
    made = [one.made for one in runs.trace.crossings if one.by == "failing" and not runs.letter.reused]
    for stack in (*spoiled(runs), *made):
        if (found := edits.lasting(runs.sources, stack)) is not None:
            return found.path, stack[:1]
    return NOTHING


def by_holder(runs: Runs) -> Named:
    """What an object or a container holds, or a pass is given, where passes train on what was written."""
    if runs.case.pool.leaf_written or not runs.case.pool.written["copied"]:
        return NOTHING
    sources, writes = runs.sources, _writes(runs)
    found = [(held_name(sources, one.stack), one.stack[:1]) for one in writes]
    data = [(walked_data(sources, one.stack), one.stack[:1]) for one in writes if not one.whole]
    found += [(one.path, place) for one, place in data if one is not None]
    first = next((one for one in found if one[0]), NOTHING)
    return first if first[0] and _is_read_again(runs) else NOTHING


def _is_read_again(runs: Runs) -> bool:
    """Whether passes train otherwise for what was written: those compared, or some behind them."""
    for how in (Intervention.NONE, Intervention.FURTHER):
        specs = (RunSpec.reference(one, intervention=how) for one in (runs.code, replace(runs.code, copied=True)))
        letter, other = map(runs.case.pool.get, specs)
        if comparable(letter) or comparable(other):
            return False
        if any(not one.note for one in differences(letter, other, LIVE)):
            return True
        if letter.outcome == "finished":
            return False
    return False


def shows(runs: Runs, named: Named) -> bool:
    """Whether a write by another name shows, or may in other passes, and the edit does not see to it."""
    if not (named[0] and runs.case.pool.written["copied"]):
        return False
    other = runs.of(replace(runs.code, copied=True))
    if not _is_met(runs):
        return True
    trains = not comparable(other) and differences(runs.letter, other, LIVE)
    if trains or ends_otherwise(runs):
        return not is_kept_by(runs)
    return prints_otherwise(runs, other)


def prints_otherwise(runs: Runs, other: wire.Trace | None) -> bool:
    """Whether the program as it is meant otherwise only prints other numbers, and the edit prints those of the code."""
    letter = runs.letter
    if other is None or comparable(other) or differences(letter, other, LIVE):
        return False
    printed = differences(letter, other, LIVE, printed=True)
    return bool(printed) and not differences(letter, runs.edited, LIVE, printed=True)


def _is_met(runs: Runs) -> bool:
    """Whether each pass reads that name, if any does: where a condition decides it, these passes may show nothing."""
    sources, leaf = runs.sources, runs.case.pool.leaf_written
    if leaf:
        return second_is_met(sources, leaf, older=True)
    return all(second_is_met(sources, stack) for stack in spoiled(runs))


def spoiled(runs: Runs) -> list[wire.Stack]:
    """Where the program itself spoiled a saved tensor."""
    return list(dict.fromkeys(write.stack for write in _writes(runs)))


def _writes(runs: Runs) -> list[wire.Write]:
    return [write for saved in runs.trace.saved for write in saved.writes if write.optimizer < 0]


def kept(runs: Runs) -> Reading | None:
    """The reading in which it keeps its value, where that trains otherwise, or shows other numbers in the end."""
    reading = replace(runs.code, copied=True)
    if not told(runs)[0] or comparable(other := runs.of(reading)):
        return None
    return reading if differences(runs.letter, other, LIVE) or ends_otherwise(runs) else None


def ends_otherwise(runs: Runs) -> bool:
    """Whether a leaf is written, and the script shows other numbers in the end if the older name keeps its value."""
    return bool(runs.case.pool.leaf_written and runs.shows_otherwise(runs.code, replace(runs.code, copied=True)))


def is_kept_by(runs: Runs) -> bool:
    """Whether a leaf is written, and the edit shows what the code only shows where the older name keeps its value."""
    if not (runs.case.pool.leaf_written and runs.shows_otherwise(runs.code)):
        return False
    return not runs.shows_otherwise(replace(runs.code, copied=True))


def words(runs: Runs, name: str, place: wire.Stack) -> dict[str, str]:
    """What completes the sentence of a property."""
    return {"subject": f"`{name}`", "other": other(runs, name, place)}


def other(runs: Runs, name: str, place: wire.Stack) -> str:
    """The name that is written to, which may be called alike in another function."""
    written = written_name(runs.sources, place)
    return f"{'its own ' * (written == name)}`{written}`" if written else "its other name"
