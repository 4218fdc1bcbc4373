"""A gradient that no backward has made yet, used as if it were zeros.

## What it does
Adds to the gradient only where there is one: `x.grad = g if x.grad is None else x.grad + g`; or leaves out what would
change it: `if x.grad is not None: x.grad.zero_()`.

## Why autograd fails
The gradient of a leaf is None until a backward reaches it, and since torch 2.0 `zero_grad()` sets it to None again.
None can be neither added to nor zeroed.

## Fix safety
Safe where the run shows that, with zeros in the place of None, all gradients and steps are the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import Step, replace_statement, wrap

WHY = "The first gradient is set, and those after it are added; None counts as zero."
WHY_GUARD = "What has no gradient yet is left as it is."


class GradientStillNone(Rule):
    """Take a gradient that is still None for zero."""

    code, name = "AG305", "gradient-still-none"
    title = "Set the gradient where there is none to add to"
    causes = frozenset({Cause.GRADIENT_NONE})
    tier = Tier.MEANT
    usual = "failed", "a gradient is usually read behind the backward that reaches its tensor, and set where it is None"
    examples = Example.each("""\
import torch
! the first of several is set
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    for scale in (1.0, 0.5):
        (g,) = torch.autograd.grad((scale * w).exp().sum(), [w])
-        w.grad += g if scale == 0.5 else 2 * g
+        w.grad = (g if scale == 0.5 else 2 * g) if w.grad is None else w.grad + (g if scale == 0.5 else 2 * g)
    opt.step()
! several at once
w, b = torch.ones(3, requires_grad=True), torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([w, b], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    gw, gb = torch.autograd.grad((w * 2 + b).exp().sum(), [w, b])
-    w.grad += gw
-    b.grad -= gb
+    w.grad = gw if w.grad is None else w.grad + gw
+    b.grad = -gb if b.grad is None else b.grad - gb
    opt.step()
! there is nothing to zero yet
w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
-    w.grad.zero_()
+    if w.grad is not None:
+        w.grad.zero_()
    w.exp().sum().backward()
    opt.step()
! a value is made of it: nothing says what it should be without one
w = torch.ones(3, requires_grad=True)
norm = w.grad.norm()
! an update without a gradient would never train, and nothing says why there is none
w = torch.ones(3, requires_grad=True)
w.exp().sum().backward()
w.grad = None
w.data -= 0.1 * w.grad
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All uses of one block at once."""
        found: dict[ast.stmt, tuple[Source, ast.Attribute]] = {}
        for source, node in sources.innermost(one.stack for one in diagnosis.trace.origins):
            if isinstance(node, ast.Attribute):
                found.setdefault(source.statement(node), (source, node))
        failing = [source.statement(node) for _, source, node in sources.nodes(diagnosis.failure.stack[:1])]
        edits: list[Step] = []
        for statement, (source, node) in found.items():
            owner = calls.path_of(node.value)
            loops = [one for one in blocks.around(source, node) if isinstance(one, ast.For)]
            listed = any(owner == calls.path_of(part) for loop in loops for part in names.parts(loop.target))
            looked = diagnosis.trace.backward_count and not isinstance(statement, ast.AugAssign)
            if looked and statement in failing and owner and not listed:
                raise Declined(f"{owner} has no gradient after a backward either, so it would be left out for good")
            try:
                edits += _set(source, statement, node)
            except Declined:
                if statement in failing:
                    raise
        if edits:
            guards = all(not isinstance(one, ast.AugAssign) for one in failing)
            title = "Leave out what has no gradient yet" if guards else ""
            yield self.propose(edits, WHY_GUARD if guards else WHY, title=title)


def _set(source: Source, statement: ast.stmt, node: ast.Attribute) -> list[Step]:
    """A statement that takes None for zero."""
    path = source.segment(node)
    match statement:
        case ast.AugAssign(target=target, op=ast.Add() | ast.Sub() as operator, value=value) if target is node:
            text = source.segment(value)
            added = text if isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"
            sign, first = ("+", added) if isinstance(operator, ast.Add) else ("-", f"-{added}")
            if "\n" in text:
                raise Declined("what is added does not stand on one line")
            return replace_statement(
                source, statement, [f"{path} = {first} if {path} is None else {path} {sign} {added}"]
            )
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))) if name.endswith("_"):
            return wrap(source, [statement], f"if {path} is not None:")
    raise Declined("nothing says why there is no gradient, or what the value should be without one")
