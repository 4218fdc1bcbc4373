"""An update that binds the name of a leaf to a new tensor.

## What it does
Writes the new value into the leaf, under `torch.no_grad()`: `w -= lr * w.grad` in place of `w = w - lr * w.grad`, and
`x.copy_(…)` in place of other forms, for each variable that is updated so beside it. Where nothing zeroes the gradient,
it is forgotten after the update, as the new tensor would not have had it.

## Why autograd fails
`w - lr * w.grad` is a result, no leaf: its `.grad` stays None. Under `torch.no_grad()` or cut from the graph it is a
leaf that asks for no gradient. The first pass works, for the name still stands for the leaf.

## Fix safety
An update by the gradient is meant to change the values of what gets the gradient. The reference run takes each of the
results as a leaf of its own; a reading in which the graph goes on through the updates is run too. Where something else
holds the same tensor (`best = w`, a list of all of them, the caller), a write would change it too: it declines.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import libcst as cst

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, update, writes
from autofix.syntax.blocks import block_of
from autofix.syntax.edits import Step, change, ensure_import, insert_after, replace_statement, without_gradient

WHY = "The update changes the values of the same leaf, which keeps receiving its gradient."


class LeafReboundByUpdate(Rule):
    code, name = "AG303", "leaf-rebound-by-update"
    title = "Update the leaf under torch.no_grad()"
    causes = frozenset({Cause.NONLEAF_GRADIENT, Cause.NO_GRAPH, Cause.FREED_GRAPH})
    tier = Tier.ANSWER
    examples = Example.each("""\
! nothing zeroes the gradient
w = torch.zeros(3, requires_grad=True)
for _ in range(4):
    loss = (torch.randn(8, 3) @ w - 1).pow(2).mean()
    loss.backward()
-    w = w - 0.1 * w.grad
+    with torch.no_grad():
+        w -= 0.1 * w.grad
+    w.grad = None
    print(loss.item())
! two leaves
x = torch.randn(16, 2)
w = torch.zeros(2, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for _ in range(4):
    loss = (x @ w + b - x.sum(1)).pow(2).mean()
    loss.backward()
-    w = w - 0.1 * w.grad
-    b = b - 0.1 * b.grad
+    with torch.no_grad():
+        w -= 0.1 * w.grad
+        b -= 0.1 * b.grad
    w.grad.zero_()
    b.grad.zero_()
    print(loss.item())
! an update and a projection
net = torch.nn.Linear(4, 3)
delta = torch.zeros(2, 4, requires_grad=True)
for _ in range(3):
    loss = torch.nn.functional.cross_entropy(net(torch.ones(2, 4) + delta), torch.tensor([0, 2]))
    loss.backward()
    with torch.no_grad():
-        delta = delta + 0.1 * delta.grad.sign()
-        delta = torch.clamp(delta, -0.2, 0.2)
+        delta += 0.1 * delta.grad.sign()
+        delta.copy_(torch.clamp(delta, -0.2, 0.2))
        delta.grad.zero_()
    print(loss.item())
! two leaves in one statement
def fit(x, lr=0.1):
    w, b = torch.zeros(2, requires_grad=True), torch.zeros(1, requires_grad=True)
    for _ in range(4):
        loss = (x @ w + b - x.sum(1)).pow(2).mean()
        loss.backward()
-        (w, b) = (w - lr * w.grad).clamp(-1, 1), b - lr * (b.grad + 1)  # down the slope
+        with torch.no_grad():
+            w.copy_((w - lr * w.grad).clamp(-1, 1))
+            b -= lr * (b.grad + 1)
+        w.grad = None
+        b.grad = None  # down the slope
        print(loss.item())


fit(torch.randn(16, 2))
! the second update reads what the first has not written yet
w, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
for _ in range(3):
    (w * b).sum().backward()
    with torch.no_grad():
        w, b = w - 0.1 * w.grad, b - w * b.grad
! the pair of them still holds where they began
start = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
w, b = start
for _ in range(3):
    (w * b).sum().backward()
    w, b = w - 0.1 * w.grad, b - 0.1 * b.grad
! the best of the values is kept, and an update in place would change it
w = torch.ones(2, requires_grad=True)
best, least = w, 9.0
for _ in range(5):
    loss = (w - 1.2).pow(2).sum()
    if loss < least:
        best, least = w, loss.item()
    loss.backward()
    w = w - 1.1 * w.grad
! the statement that binds the name does not show the update
def stepped(p):
    return p - 0.1 * p.grad


w = torch.ones(2, requires_grad=True)
for _ in range(2):
    w.pow(2).sum().backward()
    w = stepped(w)
    w.grad.zero_()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All updates of a block at once, with and without forgetting the gradients."""
        found: dict[tuple[Source, ast.stmt], list[ast.stmt]] = {}
        owned = diagnosis.cause is Cause.FREED_GRAPH
        stacks = [one.stack for one in diagnosis.trace.origins if one.kind == "rebound"]
        for stack in dict.fromkeys([one.made for one in diagnosis.trace.crossings] if owned else stacks):
            for _, source, node in sources.nodes(stack[:1]):
                statement = source.statement(node)
                if owned and not update.rebinds_owned(source, statement):
                    continue
                for one in (one for one in update.bindings(statement) if update.held_elsewhere(source, one)):
                    said = f"the tensor of {one.path} is held elsewhere too, and a write would change it there"
                    raise Declined(said)
                statements = found.setdefault((source, block_of(source, statement)[0]), [])
                if statement not in statements:
                    statements.append(statement)
        for forget in (False, True):
            edits: list[Step] = []
            for (source, first), statements in found.items():
                for run in blocks.runs(block_of(source, first), statements):
                    edits += _in_place(source, run, forget=forget)
            if edits:
                yield self.propose(edits, WHY, later=forget)


def _in_place(source: Source, run: list[ast.stmt], *, forget: bool) -> list[Step]:
    """Neighbouring updates written in place, under `no_grad` if they are not under it already."""
    several = next((place for place, one in enumerate(run) if len(update.bindings(one)) > 1), None)
    if several is not None:
        before, after = run[:several], run[several + 1 :]
        rest = [edit for part in (before, after) if part for edit in _in_place(source, part, forget=forget)]
        return [*rest, *_apart(source, run[several], forget=forget)]
    edits = [] if writes.under_no_grad(source, run[0]) else without_gradient(source, run)
    targets = []
    for one in (binding for statement in run for binding in update.bindings(statement)):
        targets.append(one.path)
        edits += change(source, one.statement, "in place", lambda old, _: _update(old.targets[0].target, old.value))
    if forget:
        edits += insert_after(source, run[-1], [f"{path}.grad = None" for path in dict.fromkeys(targets)])
    return edits


def _apart(source: Source, statement: ast.stmt, *, forget: bool) -> list[Step]:
    """An update of several variables at once, as one for each."""
    bound = update.bindings(statement)
    start, end = source.extent(statement)
    paths = [one.path for one in bound]
    # Each value is computed before any variable is bound; what only looks at `w.grad` may come after the write to `w`.
    for place, one in enumerate(bound):
        rest = ast.unparse(one.value)
        for path in paths[:place]:
            rest = re.sub(rf"(?<![\w.]){re.escape(path)}\.grad\b", "", rest)
            if re.search(rf"(?<![\w.]){re.escape(path)}(?!\w)", rest):
                raise Declined(f"the new value of {one.path} depends on the old one of {path}")
    if "\n" in source.text[start:end] or len(set(paths)) < len(paths):
        raise Declined("the update does not stand on a line of its own")
    imports: list[Step] = []
    sides = [[cst.parse_expression(source.segment(side)) for side in (one.target, one.value)] for one in bound]
    lines = [_code(_update(*pair)) for pair in sides]
    if not writes.under_no_grad(source, statement):
        torch, imports = ensure_import(source, "torch")
        lines = [f"with {torch}.no_grad():", *(f"    {line}" for line in lines)]
    lines += [f"{path}.grad = None" for path in paths] if forget else []
    return [*imports, *replace_statement(source, statement, lines)]


def _update(target: Any, value: Any) -> cst.BaseSmallStatement:
    """One update in place: by an operator that writes, or else by `copy_`."""
    path = _code(target)
    match value:
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract() as operator, lpar=()) if _code(
            left
        ) in (path, f"{path}.detach()", f"{path}.data"):
            sign = cst.AddAssign() if isinstance(operator, cst.Add) else cst.SubtractAssign()
            return cst.AugAssign(target, sign, value.right)
    bare = value.with_changes(lpar=(), rpar=())
    return cst.Expr(cst.Call(cst.Attribute(target, cst.Name("copy_")), [cst.Arg(bare)]))


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)
