"""Leaves that are copied with the object that holds them, while a derivative is asked by the leaves themselves.

## What it does
Takes the fields of a dataclass as they are: `vars(rates)` in place of `asdict(rates)`, and for `astuple(rates)`
`tuple(vars(rates).values())`. Where the result has a name and is written to, it is a dictionary of its own.

## Why autograd fails
`asdict` and `astuple` copy deeply what a field holds. The copies are leaves of their own: what is computed from them
leads to the copies, and no gradient reaches the tensors that are trained.

## Fix safety
Safe where the run shows that every leaf gets the gradient that it has once the copy keeps its graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names
from autofix.syntax.edits import replace

WHY = "What is computed from the fields themselves leads to the leaves, and so does its gradient."


class LeavesCopiedAlong(Rule):
    code, name = "AG440", "leaves-copied-along"
    title = "Take the fields themselves, not copies of them"
    causes = frozenset({Cause.UNUSED_INPUT, Cause.GRADIENT_NONE})
    tier = Tier.ANSWER
    examples = Example.each("""\
import dataclasses
from dataclasses import asdict, dataclass


@dataclass
class Rates:
    up: torch.Tensor
    down: torch.Tensor


def leaf(value):
    return torch.tensor(value, requires_grad=True)


rates, x = Rates(leaf(0.7), leaf(0.4)), torch.randn(6)
leaves = [rates.up, rates.down]


def model(x, up, down):
    return (up * x + down - 1).square().mean()


! a derivative by the leaves
for _ in range(4):
-    loss = model(x, **asdict(rates))
+    loss = model(x, **vars(rates))
    for one, grad in zip(leaves, torch.autograd.grad(loss, leaves)):
        one.data -= 0.1 * grad
! a dictionary that is written to
for _ in range(4):
-    given = asdict(rates)
+    given = dict(vars(rates))
    given["up"] = given["up"] * 2
    for one, grad in zip(leaves, torch.autograd.grad(model(x, **given), leaves)):
        one.data -= 0.1 * grad
! gradients that are read, and a tuple
! unsafe: a gradient that is read may be zero: the code as written has none
for _ in range(4):
-    loss = model(x, *dataclasses.astuple(rates))
+    loss = model(x, *tuple(vars(rates).values()))
    loss.backward()
    with torch.no_grad():
        for one in leaves:
            one -= 0.1 * one.grad
            one.grad = None
! the dictionary is of a kind of its own
from collections import OrderedDict

given = asdict(rates, dict_factory=OrderedDict)
torch.autograd.grad(model(x, **given), leaves)
! the derivative is by something that is no field
other = leaf(1.0)
torch.autograd.grad(model(x, **asdict(rates)), [other])
! a leaf was made on purpose
given = {name: one.detach().requires_grad_() for name, one in vars(rates).items()}
torch.autograd.grad(model(x, **given), leaves)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At each call that copied leaves along."""
        for source, node in sources.innermost(diagnosis.lost("copied_along")):
            if not isinstance(node, ast.Call) or (text := _as_they_are(source, node)) is None:
                raise Declined("nothing is known that gives what is copied here as it is")
            yield self.propose(replace(source, node, text), WHY)


def _as_they_are(source: Source, call: ast.Call) -> str | None:
    """What gives the fields that a call copies, without copies of them."""
    match call:
        case ast.Call(args=[(ast.Name() | ast.Attribute()) as given], keywords=[]):
            fields = f"vars({source.segment(given)})"
        case _:
            return None
    match calls.known(source, call.func, ("dataclasses",)):
        case "asdict":
            return fields if _is_looked_into(source, call) else f"dict({fields})"
        case "astuple":
            return f"tuple({fields}.values())"
    return None


def _is_looked_into(source: Source, call: ast.Call) -> bool:
    """Whether what a call gives is only read: then it may be the object's own dictionary."""
    match source.statement(call):
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is call:
            found = names.mentions(source.function(call) or source.tree, name)
            return all(_looks(source, one) for one in found if isinstance(one.ctx, ast.Load))
    return _looks(source, call)


def _looks(source: Source, node: ast.expr) -> bool:
    """Whether an expression's value is unpacked or asked for what it holds."""
    match source.parent(node):
        case ast.keyword(arg=None) | ast.Subscript(ctx=ast.Load()) | ast.Attribute(attr="items" | "values" | "keys"):
            return True
    return False
