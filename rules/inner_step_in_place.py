"""A loop that writes to the leaves that a list holds, where the list belongs to the forward.

## What it does
Gives the list new tensors: `for w, g in zip(fast, grads): w -= lr * g` becomes
`fast = [w - lr * g for w, g in zip(fast, grads)]`; a dict that is walked through by `items()` becomes a new dict.

## Why autograd fails
The list was made of the parameters themselves (`fast = list(net.parameters())`), so that each write is one to a leaf
that requires a gradient. Under `torch.no_grad()` the inner step would be allowed, and move the parameters for good:
what an optimizer then steps is no longer where the pass began.

## Fix safety
The write can also be an update of the parameters, as a step by hand is. Both are run. Where nothing rules one of them
out, no edit is safe, and the report asks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names, writes
from autofix.syntax.edits import replace_statement, value_after

WHY = "{name} holds new tensors that gradients flow through; the leaves that it was made of stay as they are."


class InnerStepInPlace(Rule):
    code, name = "AG312", "inner-step-in-place"
    title = "Put new tensors into the list"
    causes = frozenset({Cause.LEAF_MODIFIED})
    tier = Tier.AGAIN
    examples = Example.each("""\
net = torch.nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
! unsafe: an update of the parameters is possible, too
for _ in range(5):
    fast = list(net.parameters())
    inner = (torch.nn.functional.linear(x, *fast) - y).square().mean()
    grads = torch.autograd.grad(inner, fast)
-    for w, g in zip(fast, grads):
-        w -= 0.1 * g  # an inner step
+    fast = [w - 0.1 * g for w, g in zip(fast, grads)]  # an inner step
    loss = (torch.nn.functional.linear(x, *fast) - y).square().mean()
    train: loss
! unsafe: an update of the parameters is possible, too
for _ in range(5):
    fast = dict(net.named_parameters())
    inner = (torch.nn.functional.linear(x, *fast.values()) - y).square().mean()
    grads = dict(zip(fast, torch.autograd.grad(inner, tuple(fast.values()))))
-    for name, w in fast.items():
-        w.sub_(grads[name], alpha=0.1)
+    fast = {name: w.sub(grads[name], alpha=0.1) for name, w in fast.items()}
    loss = (torch.nn.functional.linear(x, *fast.values()) - y).square().mean()
    train: loss
! unsafe: an update of the parameters is possible, too
for _ in range(5):
    fast = list(net.parameters())
    inner = (torch.nn.functional.linear(x, *fast) - y).square().mean()
    grads = torch.autograd.grad(inner, fast)
-    for i, w in enumerate(fast): w.add_(grads[i] * -0.1)
+    fast = [w.add(grads[i] * -0.1) for i, w in enumerate(fast)]
    loss = (torch.nn.functional.linear(x, *fast) - y).square().mean()
    train: loss
! unsafe: an update of the parameters is possible, too
class Learner:
    def adapt(self):
        self.fast = list(net.parameters())
        inner = (torch.nn.functional.linear(x, *self.fast) - y).square().mean()
        grads = torch.autograd.grad(inner, self.fast)
-        for w, g in zip(self.fast, grads): w -= 0.1 * g
+        self.fast = [w - 0.1 * g for w, g in zip(self.fast, grads)]


learner = Learner()
for _ in range(5):
    learner.adapt()
    loss = (torch.nn.functional.linear(x, *learner.fast) - y).square().mean()
    train: loss
! the parameters themselves are walked through, and no list has a name
for _ in range(2):
    for w in net.parameters():
        w -= 0.1
! the loop does something else, too
params = list(net.parameters())
moved = 0
for w in params:
    w -= 0.1
    moved += 1
! the list is not bound here, and others may hold it
params = list(net.parameters())


def shrink():
    for w in params:
        w *= 0.9


shrink()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The loop around the failing write as a comprehension."""
        for _, source, node in sources.nodes(diagnosis.failure.stack[:1]):
            loop = source.parent(source.statement(node))
            if not isinstance(loop, ast.For) or loop.orelse or len(loop.body) != 1:
                raise Declined("the write is not alone in a loop over a list")
            held, made = _comprehension(source, loop, writes.written(source, node), value_after(source, node))
            path = calls.path_of(held)
            if not any(source.function(one) is source.function(loop) for one in names.assignments(source, path)):
                raise Declined(f"{path or 'what the loop walks through'} is not bound here, and others may hold it")
            yield self.propose(replace_statement(source, loop, [f"{path} = {made}"]), WHY.format(name=path))


def _comprehension(source: Source, loop: ast.For, written: str, value: str) -> tuple[ast.expr, str]:
    """The list or dict that a loop walks through, and what makes it anew from the `value` of what is `written`."""
    each = f"for {source.segment(loop.target)} in {source.segment(loop.iter)}"
    targets = [calls.path_of(one) for one in names.parts(loop.target)]
    match loop.iter:
        case ast.Call(func=ast.Name("zip"), args=[held, *_]) if targets[0] == written:
            return held, f"[{value} {each}]"
        case ast.Call(func=ast.Name("enumerate"), args=[held]) if targets[1:] == [written]:
            return held, f"[{value} {each}]"
        case ast.Call(func=ast.Attribute(held, "items"), args=[]) if targets[1:] == [written]:
            return held, f"{{{targets[0]}: {value} {each}}}"
        case (ast.Name() | ast.Attribute()) as held if targets == [written]:
            return held, f"[{value} {each}]"
    raise Declined("what the loop walks through is no list or dict that has a name")
