"""Uses of gradients that stand where there is never one: between their clearing and their backward."""

from __future__ import annotations

import ast

from autofix.core.model import Diagnosis
from autofix.syntax import blocks, update
from autofix.syntax.calls import method, methods
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources


def found(diagnosis: Diagnosis, sources: Sources) -> tuple[Source, ast.stmt, ast.stmt] | None:
    """The innermost statement on the way to a failure that stands so, and the last backward before its step.

    What clears by hand may stand there, and so may what adds: a backward adds to it.
    """
    at = next(sources.statements(diagnosis.failure.stack[:1]), None)
    adds = isinstance(at, ast.AugAssign) and isinstance(at.op, (ast.Add, ast.Sub))
    if adds or method(at) == "zero_":
        return None
    for _, source, node in sources.nodes(diagnosis.failure.stack):
        for use in blocks.holders(source, node):
            # What goes backward itself uses gradients of its own.
            if any(blocks.passed(source, use, call.stack) for call in diagnosis.trace.earlier):
                return None
            if (backward := _its_backward(source, use)) is not None:
                return source, use, backward
    return None


def _its_backward(source: Source, use: ast.stmt) -> ast.stmt | None:
    """The last backward between a statement and the next step, where gradients are cleared latest before it."""
    block = blocks.block_of(source, use)
    behind = blocks.after(block, use)
    step = next((one for one in behind if method(one) == "step"), None)
    until = blocks.before(behind, step) if step is not None else []
    backwards = [one for one in until if "backward" in method(one)]
    turn = [name for one in (*behind, *blocks.before(block, use)) for name in methods(one)]
    latest = next((name for name in reversed(turn) if name == "zero_grad" or "backward" in name), "")
    return backwards[-1] if backwards and latest == "zero_grad" and not update.trains(use) else None
