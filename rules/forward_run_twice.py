"""A forward that is run a second time on the same input, and overwrites what the first run left for its backward.

## What it does
Runs it once, and uses its result in both places: `out = net(x)`, then `out` where `net(x)` stood.

## Why autograd fails
A module that writes to memory of its own (a mask, statistics, a workspace) writes there in each forward. What the first
forward saved is overwritten by the second, before any backward has used it.

## Fix safety
Safe where the run shows the same gradients: the second result was then the first one over again. Where the module goes
on from what its last forward left, or draws random numbers, the run shows that two forwards are more than one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile

from autofix.diagnosis.scenes import parting
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names, update
from autofix.syntax.edits import Step, delete, insert_before, rename, replace

WHY = "{call} is computed once, so that nothing overwrites what its backward needs; both places use what it gave."
_LATER = ast.Lambda | calls.Comprehension | ast.IfExp | ast.BoolOp
"""Expressions of which a part may run never, later or several times."""
_TWO = 2


class ForwardRunTwice(Rule):
    code, name = "AG107", "forward-run-twice"
    title = "Run the forward once"
    causes = frozenset({Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.MEANT
    examples = Example.each("""\
! its result gets a name
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.mask = torch.nn.Linear(3, 3), torch.zeros(3)

    def forward(self, x):
        self.mask.copy_((x.detach().mean(0) > 0).float() + 1)
        h = self.layer(x) * self.mask
        return h[:, 0], h[:, 1:]


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
+    output = net(x)
-    first = net(x)[0].pow(2).mean()
+    first = output[0].pow(2).mean()
-    second = (net(x)[1] - 1).pow(2).mean()
+    second = (output[1] - 1).pow(2).mean()
    train: (first + second)
! each takes its part
work = torch.zeros(4, 2)


def encode(layer, x):
    torch.mul(x, 2, out=work)
    h = layer(work)
    return h.mean(), h.std()


layer = torch.nn.Linear(2, 3)
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(4, 2)
-    mean, _ = encode(layer, x)
+    mean, spread = encode(layer, x)
    loss = (mean - 1).pow(2)
-    _, spread = encode(layer, x)
    train: (loss + spread)
! the second is another name for the first
scale = torch.ones(3)


def scaled(w):
    scale.fill_(2.0)
    return w * scale


w = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    a = scaled(w)
-    b = scaled(w)
+    b = a
    train: (a.sum() + b.pow(2).sum())
! another input
scale = torch.ones(3)


def scaled(w, k):
    scale.fill_(k)
    return (w * scale).sum()


w = torch.nn.Parameter(torch.ones(3))
(scaled(w, 1.0) + scaled(w, 2.0)).backward()
! what goes in is bound anew between them
scale = torch.ones(3)


def scaled(w):
    scale.fill_(2.0)
    return w * scale


w = torch.nn.Parameter(torch.ones(3))
x = w.exp()
first = scaled(x).sum()
x = w.sin()
second = scaled(x).sum()
(first + second).backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each write that a later run of the same call made."""
        seen: set[ast.expr] = set()
        for saved in diagnosis.trace.saved:
            for write in saved.writes:
                found = list(sources.located(parting(saved.made, write.stack)))
                if len(found) != _TWO:
                    continue
                (_, source, first), (_, _, second) = found
                if second not in seen and ast.dump(first) == ast.dump(second) and _same(source, first, second):
                    seen.add(second)
                    with suppress(Declined):
                        yield self.propose(_once(source, first, second), WHY.format(call=source.segment(first)))


def _same(source: Source, first: ast.expr, second: ast.expr) -> bool:
    """Whether two calls of one block are given the same: nothing between them binds what they read."""
    made, used = source.statement(first), source.statement(second)
    block = blocks.block_of(source, made)
    if not isinstance(first, ast.Call) or used not in block or block.index(used) < block.index(made):
        return False
    between = block[block.index(made) : block.index(used)]
    return not any(update.trains(one) or names.meets(names.binds(one), names.reads(second)) for one in between)


def _once(source: Source, first: ast.expr, second: ast.expr) -> list[Step]:
    """The second call as what the first one gave, under the name that it has, else under one of its own."""
    made, used = source.statement(first), source.statement(second)
    match made, used:
        case ast.Assign(targets=[ast.Name(id=name)], value=value), _ if value is first:
            return replace(source, second, name)
        case (
            ast.Assign(targets=[ast.Tuple(elts=ours)], value=value),
            ast.Assign(targets=[ast.Tuple(elts=theirs)], value=other),
        ) if value is first and other is second and (steps := _joined(source, ours, theirs)):
            return [*steps, *delete(source, used)]
    around = [takewhile(lambda one: not isinstance(one, ast.stmt), source.around(call)) for call in (first, second)]
    if any(isinstance(node, _LATER) for inside in around for node in inside):
        raise Declined("the call may run never, or later")
    name = names.unused(source, "output")
    bound = insert_before(source, made, [f"{name} = {source.segment(first)}"])
    return [*bound, *replace(source, first, name), *replace(source, second, name)]


def _joined(source: Source, ours: list[ast.expr], theirs: list[ast.expr]) -> list[Step]:
    """What either takes of a result, taken by the first; [] where both take one part."""
    steps: list[Step] = []
    if len(ours) != len(theirs):
        return []
    for one, other in zip(ours, theirs, strict=True):
        match one, other:
            case _, ast.Name(id="_"):
                pass
            case ast.Name(id="_"), ast.Name(id=name):
                steps += rename(source, one, name)
            case _:
                return []
    return steps
