"""A name keeps its value

## What it says

The code as written breaks it where `x += …` or `y = x.op_(…)` writes to a whole tensor that an operation of the same
pass made, that tensor is read later under a name bound before the write (an alias, the caller's variable, a list), and
the program trains otherwise for it. The reading that keeps the law gives the new value to the name that is written and
leaves the old one to the others.

So does a write by a name without graph that such a tensor, or a part of it, was given in this pass (`out = x.detach()`,
`out.mul_(2)`): who detaches does not mean to write into what is trained. The reading that keeps the law gives that name
to a copy.

## Where it is silent

A write through a view, to a part, to a leaf or buffer, or to what outlives the pass changes its base on purpose. So
does one whose new value nothing reads but by the old name (a helper that writes to what it is given, whose result the
caller drops): the runs tell, for then it makes no difference what the new value is. What has no graph may be read for
anything, such as a picture that is shown: there the code tells. `x.detach().mul_(2)` and
`x.data[0] = …` write to nothing but `x`. Of several writes in doubt each may be meant in its own way, with two
exceptions. Those of one variable (`x *= …`, then `x += …`) to which no name is given between are one write in two
statements, also where only one of them spoils what backward needs. And where each is by a second name that the function
gives to one variable (`left = x`, `left *= …`, `right = x`, `right *= …`), each second name is taken for a copy. A part
that is written, too, or a method whose value is dropped (`x.clamp_(0)`), is written on purpose, and then the others may
be; so is what a function writes that is given the tensor before. So do two whose values are used in the same way
(`a - x.pow_(2)`, `b - y.pow_(2)`), if only one of them spoils what backward needs: the reading would leave the other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from autofix.core.model import Treatment
from autofix.experiments.compare import comparable, differences
from autofix.experiments.sketches import LIVE
from autofix.experiments.spec import RunSpec
from autofix.probe import wire
from autofix.syntax.edits.names.read_on import is_read_on
from autofix.syntax.one_tensor import are_one, writes_to_one, written_alike
from autofix.syntax.source import Source
from autofix.verdict.law import PASSES, KeptByChange, Runs, apart, at

Place = tuple[Source, ast.AST]


class ANameKeepsItsValue(KeptByChange):
    clause = "a variable that was assigned before the write keeps its value"
    change = "old_values"

    def seen(self, runs: Runs) -> str:
        others = any(write.view or not write.whole for saved in runs.trace.saved for write in saved.writes)
        if others or not _is_one(runs) or passes_apart(runs) < PASSES or not reads_what_is_written(runs):
            return ""
        where = at(runs.whole_writes[0])
        return (
            f"{where} writes a tensor in place, and a variable that was assigned before is read after the write. "
            "The new value in it changes the training"
        )


def _is_one(runs: Runs) -> bool:
    """Whether all that is written is one variable's tensor, and all that writes to it is meant alike."""
    if not (written := _found(runs, runs.whole_writes)) or is_half(runs):
        return False
    source, first = written[0]
    group = writes_to_one(source, first)
    statements = {source.statement(one) for one in group}
    return are_one(source, group) and all(one.statement(node) in statements for one, node in written)


def is_half(runs: Runs) -> bool:
    """Whether the reading leaves other writes in place, to the same tensors or alike: it keeps half of old values."""
    written = _found(runs, runs.whole_writes) or []
    handed = _found(runs, (stack for saved in runs.trace.saved for stack in saved.handed))
    out_of_place = {source.statement(node) for source, node in written}
    left = {source.statement(node) for source, node in handed or ()}
    for source, node in written:
        group = writes_to_one(source, node)
        (out_of_place if are_one(source, group) else left).update(map(source.statement, group))
        left.update(map(source.statement, written_alike(source, node)))
    return handed is None or bool(left - out_of_place)


def _found(runs: Runs, stacks: Iterable[wire.Stack]) -> list[Place] | None:
    """The statements or calls of some places; None where one is not found."""
    sources = runs.sources
    found = [next(sources.nodes(stack), None) for stack in stacks]
    known = [(source, node) for _, source, node in filter(None, found)]
    return known if len(known) == len(found) else None


def passes_apart(runs: Runs) -> int:
    """In how many passes the program trains otherwise if names keep their values, while parameters move or not."""
    pairs = [(runs.letter, runs.old_values)]
    if pairs[0][1] is not None and not apart(*pairs[0]):
        both = (runs.code, replace(runs.code, old_values=True))
        runs.case.pool.expect(*(RunSpec.reference(one, Treatment.FROZEN) for one in both))
        pairs.append((runs.letter_frozen, runs.old_values_frozen))
    return max(apart(*pair) for pair in pairs)


def reads_what_is_written(runs: Runs) -> bool | None:
    """Whether training depends on the new value by the name that takes it; None where that cannot be told.

    A name without graph may be read for anything, such as a picture.
    """
    aliased = {write.alias for saved in runs.trace.saved for write in saved.writes}
    if () not in aliased and any(
        is_read_on(runs.sources, one.stack) for saved in runs.trace.saved for one in saved.writes
    ):
        return True
    old, moved = runs.old_values, runs.old_values_moved
    if old is None or moved is None or comparable(old) or comparable(moved):
        return None
    return bool(differences(old, moved, LIVE))
