"""A derivative by a value that is computed anew where the derivative is asked for.

## What it does
Computes the value once, under a name of its own, and takes both the result and its derivative from that:
`u = net(place)`, `grad(u, place)` for `u = net(self.place)`, `grad(u, self.place)`, where `place` is a property.

## Why autograd fails
Each time a property is read, or a function is called, it makes another tensor. The one that a derivative is asked by
took no part in the result that was computed from the one before.

## Fix safety
Unsafe: as the code is written the derivative is by a tensor that took no part, and is zero. No run shows that two
values which are made the same way are meant to be one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import insert_before, own_names, replace

WHY = "The result is computed from one value, and its derivative is by that value, not by another made the same way."


class InputComputedAnew(Rule):
    code, name = "AG444", "input-computed-anew"
    title = "Compute once what the derivative is by"
    causes = frozenset({Cause.UNUSED_INPUT})
    tier = Tier.MEANT
    examples = Example.each("""\
heat = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
place = torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*heat.parameters(), *place.parameters()], lr=0.1)


def slope(y, x):
    return torch.autograd.grad(y.sum(), x, create_graph=True)[0]


! by a property, in a helper
! unsafe: as the code is written the derivative is by what took no part, and is zero
class Front(torch.nn.Module):
    times = torch.rand(6, 2)

    @property
    def front(self):
        return place(self.times)

    def loss(self):
-        u = heat(self.front)
-        flow = slope(u, self.front)
-        return (flow + self.front).square().mean() + u.square().mean()
+        front = self.front
+        u = heat(front)
+        flow = slope(u, front)
+        return (flow + front).square().mean() + u.square().mean()


model = Front()
for _ in range(4):
    train: model.loss()
! by a call
! unsafe: as the code is written the derivative is by what took no part, and is zero
for _ in range(4):
    x = torch.rand(6, 2)
-    u = heat(place(x))
-    flow = torch.autograd.grad(u.sum(), place(x), create_graph=True)[0]
+    value = place(x)
+    u = heat(value)
+    flow = torch.autograd.grad(u.sum(), value, create_graph=True)[0]
    train: ((flow - 1).square().mean() + u.square().mean())
! by a list of such values
! unsafe: as the code is written the derivative is by what took no part, and is zero
for _ in range(4):
    x = torch.rand(6, 2)
-    u = heat(place(x))
-    (flow,) = torch.autograd.grad(u.sum(), [place(x)], create_graph=True)
+    value = place(x)
+    u = heat(value)
+    (flow,) = torch.autograd.grad(u.sum(), [value], create_graph=True)
    train: ((flow - 1).square().mean() + u.square().mean())
! the value is another one by then
x = torch.rand(6, 2)
u = heat(place(x))
x = x + 1
slope(u, place(x))
! the result was computed from something else
x = torch.rand(6, 2, requires_grad=True)
u = heat(x[:, :1])
slope(u, place(x))
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each value that is an expression, and no variable."""
        for source, value in _asked(diagnosis, sources):
            if isinstance(value, ast.Attribute | ast.Call):
                yield self._once(source, value)

    def _once(self, source: Source, value: ast.expr) -> Proposal:
        """A name for a value before the first statement that computes it."""
        statement, text = source.statement(value), ast.dump(value)
        block = blocks.block_of(source, statement)
        known = [one for one in block if any(ast.dump(node) == text for node in ast.walk(one))]
        if known[:1] == [statement]:
            raise Declined("nothing before it is computed from the same expression")
        between = block[block.index(known[0]) : block.index(statement)]
        read = {calls.path_of(one) for one in ast.walk(value) if isinstance(one, ast.Name | ast.Attribute)}
        if any(names.binds(one) & read for one in between):
            raise Declined("what it is computed from changes in between")
        taken = {getattr(node, "id", getattr(node, "arg", "")) for node in source.walk(source.function(value))}
        name = next(one for one in own_names(value) if one not in taken)
        nodes = (node for one in known for node in ast.walk(one) if isinstance(node, ast.expr))
        same = [node for node in nodes if ast.dump(node) == text]
        steps = insert_before(source, known[0], [f"{name} = {source.segment(value)}"])
        return self.propose([*steps, *(step for node in same for step in replace(source, node, name))], WHY)


def _asked(diagnosis: Diagnosis, sources: Sources) -> Iterator[tuple[Source, ast.expr | None]]:
    """What the failing call is told to differentiate by; of a parameter, what the function's caller gives for it."""
    found = list(sources.located(diagnosis.asked[:2]))
    for frame, source, call in found[:1]:
        by, helper, there = calls.differentiated_by(call), sources.function(frame), source
        if isinstance(by, ast.Name) and helper is not None and len(found) > 1:
            _, there, caller = found[1]
            by = calls.argument(caller, calls.parameters(helper), by.id)
        yield from ((there, one) for one in (by.elts if isinstance(by, ast.List | ast.Tuple) else [by]))
