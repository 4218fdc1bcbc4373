"""A view that is cut from its graph in place.

## What it does
Binds its name to what is without a graph: `part = part.detach()` for `part.detach_()`. Where a loop cuts all in a list,
makes a list of what is without; where it also reads each, the second edit binds the name of each alone.

## Why autograd fails
A view shares its graph with the tensor that it shows, of which torch cuts no part in place.

## Fix safety
Safe where all that reads the cut tensor reads it by the name that is bound anew. The run compares all gradients.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names, writes
from autofix.syntax.edits import delete, insert_before, out_of_place, replace_statement, value_after

WHY = "{name} becomes another tensor of the same values, which has no graph; torch lets no view be cut in place."


class ViewCutInPlace(Rule):
    code, name = "AG110", "view-cut-in-place"
    title = "Rebind to what is without a graph"
    causes = frozenset({Cause.VIEW_MODIFIED})
    tier = Tier.MEANT
    examples = Example.each("""\
! a view is cut
w = torch.ones(2, 3, requires_grad=True)
for _ in range(3):
    part = (w * 2)[0]
-    part.detach_()
+    part = part.detach()
    (w * part).exp().sum().backward()
! what a call gave is cut, one by one
w = torch.ones(2, 3, requires_grad=True)
for _ in range(3):
    parts = (w * 2).chunk(2)
-    for part in parts:
-        part.detach_()
+    parts = [part.detach() for part in parts]
    (w * parts[0] + parts[1]).exp().sum().backward()
! more is done with each
w = torch.ones(2, 3, requires_grad=True)
for _ in range(3):
    parts, total = (w * 2).chunk(2), 0.0
+    parts = [part.detach() for part in parts]
    for part in parts:
-        part.detach_()
        total += part.mean().item()
    (w * parts[0] * total).exp().sum().backward()
! what is shown of each is cut, and the loss is computed of all
net, shown = torch.nn.Linear(3, 2), torch.zeros(2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    losses = net(torch.randn(5, 3)).pow(2).mean(0)
    for i, loss in enumerate(losses.unbind()):
-        loss.detach_()
+        loss = loss.detach()
        shown[i] += loss
    train: losses.sum()
! a helper cuts what its caller reads: a name of its own is of no use
def cut(tensors):
    for one in tensors:
        one.detach_()
w = torch.ones(2, 3, requires_grad=True)
parts = (w * 2).chunk(2)
cut(parts)
(w * parts[0]).exp().sum().backward()
! nothing reads what is cut
w = torch.ones(2, 3, requires_grad=True)
wholes = [w * 2 for _ in range(2)]
for whole in wholes:
    part = whole[0]
    part.detach_()
(w * wholes[0]).exp().sum().backward()
! the parts have no name
w = torch.ones(2, 3, requires_grad=True)
whole = w * 2
for part in whole.chunk(2):
    part.detach_()
(w * whole).exp().sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """By its own name; or all in the list that a loop goes through, before what else the loop does."""
        for _, source, node in sources.nodes(diagnosis.failure.stack[:1]):
            if calls.name_of(node) == "detach_" and (name := writes.written(source, node)):
                yield from self._cut(source, node, name)

    def _cut(self, source: Source, node: ast.AST, name: str) -> Iterator[Proposal]:
        statement = source.statement(node)
        loops = [one for one in blocks.loops(source, node) if isinstance(one, ast.For)]
        loop = next((one for one in loops if name in names.binds(one.target)), None)
        if loop is None:
            holder = source.tree if "." in name else source.function(node) or source.tree
            used = {one for one in names.mentions(holder, name) if isinstance(one.ctx, ast.Load)}
            if not used - {*ast.walk(statement)}:
                raise Declined(f"nothing reads {name} after the cut")
            yield self.propose(out_of_place(source, node), WHY.format(name=name))
            return
        listed = calls.path_of(loop.iter)
        read = [one for one in names.mentions(loop, name) if isinstance(one.ctx, ast.Load)]
        if not all(blocks.holds(statement, one) for one in read):
            yield self.propose(out_of_place(source, node), WHY.format(name=name), later=bool(listed))
        if calls.path_of(loop.target) != name or not listed or statement is not loop.body[0] or loop.orelse:
            raise Declined("what the loop goes through is no list with a name, or more is done before the cut")
        made = [f"{listed} = [{value_after(source, node)} for {name} in {listed}]"]
        edits = replace_statement(source, loop, made)
        if len(loop.body) > 1:
            edits = [*insert_before(source, loop, made), *delete(source, statement)]
        yield self.propose(edits, WHY.format(name=f"Each of {listed}"), title="Cut all in a list of their own")
