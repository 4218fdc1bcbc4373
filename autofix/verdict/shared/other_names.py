"""A tensor that is written by a second name, and the reading in which what the first one stands for keeps its value."""

from __future__ import annotations

from dataclasses import replace

from autofix.core.model import Reading
from autofix.experiments.compare import comparable, differences
from autofix.experiments.sketches import LIVE
from autofix.experiments.spec import Intervention, RunSpec
from autofix.probe import wire
from autofix.syntax.edits import held_name, lasting, second_is_met, second_name, walked_data, written_name
from autofix.verdict.runs import Runs


def seen(runs: Runs) -> tuple[str, wire.Stack]:
    """What is written by another name and read later, with the place of the write; '' where nothing is."""
    if not runs.case.pool.written["copied"]:
        return "", ()
    name, place = by_write(runs)
    if name:
        return name, place
    sources = runs.sources
    if written := runs.case.pool.leaf_written:
        return second_name(sources, written, older=True), written[:1]
    made = [one.made for one in runs.trace.crossings if one.by == "failing" and not runs.letter.reused]
    for stack in (*spoiled(runs), *made):
        if (found := lasting(sources, stack)) is not None:
            return found.path, stack[:1]
    return by_holder(runs)


def by_holder(runs: Runs) -> tuple[str, wire.Stack]:
    """The same of what an object or a container holds, and of data that a pass is given: by what is trained on it."""
    sources, writes = runs.sources, _writes(runs)
    found = [(held_name(sources, one.stack), one.stack[:1]) for one in writes]
    data = [(walked_data(sources, one.stack), one.stack[:1]) for one in writes if not one.whole]
    found += [(one.path, place) for one, place in data if one is not None]
    first = next((one for one in found if one[0]), ("", ()))
    return first if first[0] and _is_read_again(runs) else ("", ())


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


def by_write(runs: Runs) -> tuple[str, wire.Stack]:
    """The same of writes that spoiled a saved tensor, also where they write the whole of it."""
    sources = runs.sources
    named = ((second_name(sources, stack), stack[:1]) for stack in spoiled(runs))
    return next((one for one in named if one[0]), ("", ()))


def is_met(runs: Runs) -> bool:
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
    if not seen(runs)[0] or comparable(other := runs.of(reading)):
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


def other(runs: Runs, name: str, place: wire.Stack) -> str:
    """The name that is written to, which may be called alike in another function."""
    written = written_name(runs.sources, place)
    return f"{'its own ' * (written == name)}`{written}`" if written else "its other name"
