"""A tensor is written by a second name

## What it finds

A name was given to what another name stands for (`masked = scores`), the new one was written by (`masked[:, :2] = 0`,
`masked.mul_(2)`), and the old one is read afterwards, or what the caller handed over for it. A run in which the write
goes to a copy trains otherwise, and the edit keeps the write as it is. This is not said of what is read by the new name
alone, nor of attributes and containers.

## Why it matters

Both names are one tensor, so the old one shows the write, too. Who gives a tensor a second name before writing mostly
means a copy; `.clone()` makes one.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from autofix.experiments.compare import LIVE, comparable, differences
from autofix.syntax import writes
from autofix.syntax.calls import path_of
from autofix.syntax.reaching import Reaching
from autofix.syntax.sources import Sources
from autofix.verdict.property import Example, Property

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from autofix.core.model import Finding
    from autofix.probe.wire import Frame
    from autofix.syntax.calls import Function
    from autofix.syntax.source import Source
    from autofix.verdict.evidence import Evidence

BLOCK = """
import torch
from torch import nn

torch.manual_seed(0)
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    gate = torch.sigmoid(net(torch.randn(6, 3)))
    masked = gate
    masked[:, :2] = 0.5
    loss = (head(masked) * READ).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
HELPED = (
    BLOCK.replace("READ", "gate")
    .replace("    masked = gate\n    masked[:, :2] = 0.5", "    masked = halved(gate)")
    .replace("for _", "def halved(x):\n    out = x\n    out[:, :2] = 0.5\n    return out\n\n\nfor _", 1)
)
SPARED = ("torch.sigmoid(net(torch.randn(6, 3)))", "torch.sigmoid(net(torch.randn(6, 3))).clone()")


class OtherNameIsWritten(Property):
    name = "other-name-is-written"
    runs = ("letter", "trace")
    sentence = "{subject} is read after it was written to here by another name; it may be meant to keep its value"
    raises = (
        Example(BLOCK.replace("READ", "gate"), *SPARED),
        Example(BLOCK.replace("READ", "gate").replace("masked[:, :2] = 0.5", "masked.clamp_(max=0.5)"), *SPARED),
        Example(HELPED, *SPARED),
    )
    silent = (
        Example(BLOCK.replace("READ", "masked"), *SPARED),
        Example(BLOCK.replace("READ", "len(gate)"), *SPARED),
        Example(HELPED.replace("* gate", "* masked"), *SPARED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not evidence.assessment.effect.keeps_gradients or not evidence.case.pool.copied:
            return None
        sources = Sources.of(evidence.case.pool.target)
        for write in (write for saved in evidence.trace.saved for write in saved.writes if write.optimizer < 0):
            frames = list(sources.nodes(write.stack))
            if frames and (name := _shows(frames)) and _matters(evidence):
                return self.found(write.stack[:1], subject=name)
        return None


def _shows(frames: list[tuple[Frame, Source, ast.AST]]) -> str:
    """The name that shows what a statement writes by a second name: of the same function, or of its caller; or ''."""
    _, source, node = frames[0]
    scope, write = _scope(source, node), source.statement(node)
    reads = Reaching(scope).reads
    for second in _names(_given(reads, write)):
        if _is_read(second, reads, write):
            return second.id
        given = next((one for one in reads.get(second, ()) if isinstance(one, ast.arg)), None)
        if given is None or isinstance(scope, ast.Module) or len(frames) == 1:
            continue
        _, source, call = frames[1]
        name = _handed(scope, given, call)
        caller, reads_there = source.statement(call), Reaching(_scope(source, call)).reads
        bound = isinstance(caller, ast.Assign) and path_of(caller.targets[0])
        if name is not None and bound and bound != name.id and _is_read(name, reads_there, caller):
            return name.id
    return ""


def _scope(source: Source, node: ast.AST) -> Function | ast.Module:
    found = source.function(node)
    return found if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) else source.tree


def _given(reads: Mapping[ast.expr, frozenset[ast.AST]], write: ast.AST) -> set[ast.AST]:
    """The definitions of the name to which a statement writes."""
    match write:
        case ast.Assign([ast.Subscript(ast.Name())]) | ast.AugAssign(ast.Subscript(ast.Name())):
            shown = (found for read, found in reads.items() if isinstance(read, ast.Name) and write in found)
            return {one for found in shown for one in found} - {write}
        case ast.Expr(ast.Call() as call) if isinstance(last := list(writes.chain(call))[-1].func, ast.Attribute):
            return set(reads.get(last.value, ()))
    return set()


def _handed(function: Function, given: ast.arg, call: ast.AST) -> ast.Name | None:
    """The name that a call hands to a function for one of its parameters."""
    if not isinstance(call, ast.Call):
        return None
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    names = names[1:] if names[:1] == ["self"] else names
    handed = {**dict(zip(names, call.args, strict=False)), **{one.arg: one.value for one in call.keywords if one.arg}}
    found = handed.get(given.arg)
    return found if isinstance(found, ast.Name) else None


def _names(definitions: Iterable[ast.AST]) -> list[ast.Name]:
    """The names for which a name was given, by plain assignments."""
    values = [one.value for one in definitions if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)]
    return [value for value in values if isinstance(value, ast.Name)]


def _is_read(name: ast.Name, reads: Mapping[ast.expr, frozenset[ast.AST]], after: ast.stmt) -> bool:
    """Whether a name is read after a statement for what it stands for where it was given or handed on."""
    later = (read for read in reads if isinstance(read, ast.Name) and read.id == name.id and read.lineno > after.lineno)
    return any(reads[read] == reads.get(name) for read in later)


def _matters(evidence: Evidence) -> bool:
    """Whether the program trains otherwise if the write goes to a copy."""
    other = evidence.of(replace(evidence.code, copied=True))
    return not comparable(other) and bool(differences(evidence.letter, other, LIVE))
