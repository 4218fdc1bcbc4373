"""A write for a pass ends with it

## What it says

In each pass a forward sets the same entries of what an optimizer owns to a constant before it reads them, as
`impulse[0] = 1.0` does of a parameter by another name. As an update the value stays there, each step moves it in vain,
and the next pass sets it again. A copy, which the pass alone has, trains all else the same and prints the same. The
code as written, read as an update, breaks the law; the reading that keeps it writes to a copy.

## Where it is silent

Where a pass reads what only an earlier one has set: that may be meant to stay. Where something else reads the
parameter, so that a copy shows. Where it is written in another way, too, or under a condition: later passes may go on
from what was set.
"""

from __future__ import annotations

import ast

from autofix.experiments.compare import comparable, departures
from autofix.experiments.sketches import LIVE
from autofix.experiments.spec import Intervention
from autofix.probe import wire
from autofix.verdict.law import KeptByChange, Runs, at


class AWriteForAPassEndsWithIt(KeptByChange):
    clause = "what an iteration writes into the parameter is there for that iteration alone"
    change = "for_a_pass"

    def seen(self, runs: Runs) -> str:
        anew = runs.letter.seen("entries-anew")
        if not anew or runs.letter.seen("entries-left") or any(_is_conditional(runs, fact.stack) for fact in anew):
            return ""
        # What is written before it is trained starts elsewhere where starts are moved.
        both = (runs.code, self.changed(runs.code))
        one, other = (runs.of(reading, intervention=Intervention.UNMOVED) for reading in both)
        if comparable(one) or comparable(other):
            return ""
        names = {fact.subject for fact in anew}
        apart = departures(one, other, LIVE, printed=True)
        if not apart or any(change.parameter not in names for change in apart):
            return ""
        return f"each step moves entries of a parameter that {at(anew[0].stack)} overwrites before anything reads them"


def _is_conditional(runs: Runs, stack: wire.Stack) -> bool:
    """Whether a condition decides if a place is come to, other than that of a script which is run."""
    for _, source, node in runs.sources.nodes(stack):
        inner: ast.AST | None = node
        while inner is not None and not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if isinstance(inner, (ast.If, ast.IfExp, ast.While, ast.Match, ast.BoolOp)) and not _starts(inner):
                return True
            inner = source.parent(inner)
    return False


def _starts(node: ast.AST) -> bool:
    """Whether a condition asks for `__name__`."""
    return isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))
