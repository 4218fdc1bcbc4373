"""An inner optimizer that is given results, such as the weights that another network generates.

## What it does
Takes the inner steps by hand, as SGD would: `torch.autograd.grad(loss, [w, b], create_graph=True)`, and then
`w, b = w - lr * g_w, …` in place of `step()`.

## Why autograd fails
An optimizer moves leaves in place. A result is no leaf, and what it was made of would learn nothing of a step that
autograd does not follow.

## Fix safety
Not safe by itself: a leaf of its own, which is cut from what made it, can be meant, and so can steps through which
nothing flows. With `create_graph=True` the outer loss also trains through the inner gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import (
    Applicability,
    Cause,
    Declined,
    Diagnosis,
    Example,
    Proposal,
    Rule,
    Source,
    Sources,
    Tier,
)
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import Step, delete, ensure_import, replace_statement

WHY = "The inner steps give new tensors, through which gradients flow to what the results were made of."
_PARAMETERS = ("params", "lr")


class ResultsSteppedInside(Rule):
    code, name = "AG316", "results-stepped-inside"
    title = "Take the inner steps by hand"
    causes = frozenset({Cause.NONLEAF_GRADIENT})
    tier = Tier.AGAIN
    applicability = Applicability.UNSAFE
    examples = Example.each("""\
from torch.nn.functional import linear
made, body = torch.nn.Linear(3, 6), torch.nn.Linear(3, 5)
opt = torch.optim.Adam([*made.parameters(), *body.parameters()], lr=0.01)
! unsafe: a leaf of its own can be meant
for x in torch.randn(4, 8, 3):
    z = body(x).tanh()
    out = made(x.mean(0))
    w, b = out[:5], out[5]
-    inner = torch.optim.SGD([w, b], lr=0.1)
    for _ in range(2):
        loss = (z @ w + b - 1).square().mean()
-        inner.zero_grad()
-        loss.backward(retain_graph=True)
-        inner.step()
+        grads = torch.autograd.grad(loss, [w, b], create_graph=True)
+        w, b = (p - 0.1 * g for p, g in zip([w, b], grads))
    outer = (z @ w + b - 1).square().mean()
    train: outer
! unsafe: the same of a list, in a method
class Learner:
    rate = 0.1

    def adapt(self, x, fast):
-        inner = torch.optim.SGD(fast, self.rate)
        for _ in range(2):
            loss = (linear(x, *fast) - 1).square().mean()
-            loss.backward(retain_graph=True)
-            inner.step()
+            grads = torch.autograd.grad(loss, fast, create_graph=True)
+            fast = [p - self.rate * g for p, g in zip(fast, grads)]
        return fast


learner = Learner()
for x in torch.randn(4, 8, 3):
    fast = learner.adapt(x, [p * 1 for p in body.parameters()])
    train: (linear(x, *fast) - 1).square().mean()
! unsafe: one result
for x in torch.randn(4, 8, 3):
    code = body(x)
-    inner = torch.optim.SGD([code], lr=0.5)
-    train[inner]: (code - 1).square().sum()
+    grads = torch.autograd.grad((code - 1).square().sum(), [code], create_graph=True)
+    code = code - 0.5 * grads[0]
    train: code.exp().mean()
! momentum is more than a step
for x in torch.randn(4, 8, 3):
    code = body(x)
    inner = torch.optim.SGD([code], lr=0.5, momentum=0.9)
    (code - 1).square().sum().backward()
    inner.step()
! another optimizer keeps more than a rate
code = body(torch.randn(8, 3))
inner = torch.optim.Adam([code], lr=0.5)
for _ in range(3):
    (code - 1).square().sum().backward(retain_graph=True)
    inner.step()
! gradients are clipped in between
code = body(torch.randn(8, 3))
inner = torch.optim.SGD([code], lr=0.5)
for _ in range(3):
    (code - 1).square().sum().backward(retain_graph=True)
    torch.nn.utils.clip_grad_norm_([code], 1.0)
    inner.step()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where plain SGD was to be given results: its steps, each behind the backward that it follows."""
        for _, source, call in sources.nodes(diagnosis.failure.stack[:1]):
            if not isinstance(call, ast.Call) or calls.name_of(call) != "SGD":
                continue
            given, rate = (calls.argument(call, _PARAMETERS, one) for one in _PARAMETERS)
            plain = len(call.args) + len(call.keywords) == len(_PARAMETERS)
            made = source.statement(call)
            if given is None or rate is None or not plain or not isinstance(made, ast.Assign) or made.value is not call:
                raise Declined("the optimizer does more than plain SGD, or has no name")
            yield self.propose(_by_hand(source, made, given, source.segment(rate)), WHY)


def _by_hand(source: Source, made: ast.Assign, given: ast.expr, rate: str) -> list[Step]:
    """The steps of an optimizer taken by hand, wherever its name stands."""
    torch, steps = ensure_import(source, "torch")
    name, steps = calls.path_of(made.targets[0]), [*steps, *delete(source, made)]
    uses = (
        one for one in source.walk(source.function(made)) if isinstance(one, ast.expr) and calls.path_of(one) == name
    )
    asked = {source.statement(one) for one in uses} - {made}
    if not name or not asked:
        raise Declined("the optimizer steps nowhere in sight")
    for statement in sorted(asked, key=lambda one: one.lineno):
        if calls.method(statement) == "zero_grad":
            steps += delete(source, statement)
            continue
        block = blocks.block_of(source, statement)
        before = block[max(block.index(statement) - 1, 0)]
        match calls.method(statement), calls.statement_call(before):
            case "step", ast.Call(func=ast.Attribute(value=loss, attr="backward"), args=[]):
                values = f"{source.segment(loss)}, {source.segment(given)}"
            case _:
                raise Declined("it is used otherwise than for a step right behind a backward")
        grads = names.unused(source, "grads", "gradients")
        asks = f"{grads} = {torch}.autograd.grad({values}, create_graph=True)"
        steps += replace_statement(source, before, [asks])
        steps += replace_statement(source, statement, [_moved(source, given, rate, grads)])
    return steps


def _moved(source: Source, given: ast.expr, rate: str, grads: str) -> str:
    """What binds anew what the optimizer was given."""
    each, text = f"p - {rate} * g for p, g in zip({source.segment(given)}, {grads})", source.segment(given)
    match given:
        case ast.Name() | ast.Attribute():
            return f"{text} = [{each}]"
        case ast.List(elts=[ast.Name() as one]):
            return f"{one.id} = {one.id} - {rate} * {grads}[0]"
        case ast.List(elts=elements) if all(isinstance(one, ast.Name) for one in elements):
            return f"{', '.join(map(ast.unparse, elements))} = ({each})"
    raise Declined("what the optimizer is given has no names here")
