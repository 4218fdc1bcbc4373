"""A gradient is read before it is cleared

## What it says

The code as written breaks it where it computes something of gradients that `zero_grad()` has cleared since the backward
that made them, pass for pass: scores for which connections to grow, a norm for the next rate. There never is any, so
nobody has seen the program work with what it reads. Nobody measures what is always None, or always 0. The reading that
keeps the law has there what the latest backward left.

## Where it is silent

Where the gradient is written to (`w.grad += g`): it begins anew there. Where a leaf has none for the latest backward
did not reach it, such as a head that a pass leaves out. And where the same place also reads gradients that are there:
in between, they may be meant to be none.
"""

from __future__ import annotations

import ast

from autofix.experiments.compare import comparable
from autofix.probe import wire
from autofix.syntax import writes
from autofix.verdict.law import PASSES, KeptByChange, Runs, at


class AGradientIsReadBeforeItIsCleared(KeptByChange):
    clause = "the gradient that is read is that of the latest backward"
    change = "uncleared"

    def seen(self, runs: Runs) -> str:
        letter = runs.letter
        read, there = letter.seen("cleared"), {one.stack for one in letter.seen("gradient-there")}
        if not read or comparable(runs.of(self.changed(runs.code))):
            return ""
        if any(int(one.subject) < PASSES or one.stack in there or is_written(runs, one.stack) for one in read):
            return ""
        return f"{at(read[0].stack)} reads a gradient that was always cleared after the backward that computed it"


def is_written(runs: Runs, stack: wire.Stack) -> bool:
    """Whether what stands at a place is written to there, and not only read."""
    for _, source, node in runs.sources.nodes(stack[:1]):
        holder = source.parent(node)
        called = source.parent(holder) if isinstance(holder, ast.Attribute) else None
        return isinstance(holder, ast.AugAssign) or (isinstance(called, ast.Call) and writes.in_place(called))
    return False
