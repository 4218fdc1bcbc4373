"""A name keeps its value

## What it says

The code as written breaks it where `x += …` or `y = x.op_(…)` writes to a whole tensor that an operation of the same
pass made, that tensor is read later under a name bound before the write (an alias, the caller's variable, a list), and
the program trains otherwise for it. The reading that keeps the law gives the new value to the name that is written and
leaves the old one to the others.

## Where it is silent

A write through a view, to a part, to a leaf or buffer, or to what outlives the pass changes its base on purpose. So does
one whose new value nothing reads but by the old name (a helper that writes to what it is given, whose result the caller
drops): the runs tell, for then it makes no difference what the new value is. Of several writes in doubt each may be meant
in its own way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autofix.experiments.compare import LIVE, comparable, differences
from autofix.verdict.law import KEPT, PASSES, SILENT, Law, Ruling, Word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.core.model import Reading
    from autofix.probe import wire
    from autofix.verdict.runs import Runs


class ANameKeepsItsValue(Law):
    name = "a-name-keeps-its-value"
    clause = "a name that was bound before a write keeps its value"

    def readings(self, runs: Runs) -> Iterator[Reading]:
        if _broken(runs):
            yield replace(runs.case.pool.letters.first, old_values=True)

    def says(self, runs: Runs, reading: Reading) -> Ruling:
        if not _broken(runs):
            return SILENT
        if reading.old_values:
            return KEPT
        sentence = "what is written here is read later by a name bound before, and training differs by it"
        return Ruling(Word.BROKEN, sentence, _writes(runs)[0])


def _writes(runs: Runs) -> list[wire.Stack]:
    """Where whole tensors of the same pass were written that a later backward needed."""
    found = (write.stack for saved in runs.trace.saved for write in saved.writes if write.whole and write.stack)
    return list(dict.fromkeys(found))


def _broken(runs: Runs) -> bool:
    places = {stack[0] for stack in _writes(runs)}
    others = any(not write.whole for saved in runs.trace.saved for write in saved.writes)
    if len(places) != 1 or others or (old := runs.old_values) is None or comparable(old):
        return False
    return _passes(runs.letter, old) >= PASSES and (moved := runs.old_values_moved) is not None and (
        not comparable(moved) and bool(differences(old, moved, LIVE))
    )


def _passes(letter: wire.Trace, old: wire.Trace) -> int:
    """At how many steps, or backward calls without any, the two readings train otherwise."""
    pairs = zip(letter.steps or letter.leaves, old.steps or old.leaves, strict=False)
    return sum(a.optimizer == b.optimizer and a.gradients != b.gradients for a, b in pairs)
