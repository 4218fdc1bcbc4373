"""A loss that is still the number that it began with.

## What it does
Leaves out the rest of a pass to whose loss, a number at first, nothing was added.

## Why autograd fails
A number has no graph, and no backward. It becomes a tensor with the first that is added to it.

## Fix safety
Safe where the same loss has a graph in other passes: a pass without anything to train on leaves everything as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Frame
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import ensure_import, insert_before

WHY = "Where nothing was added to the loss, there is nothing to train on."
_BEGUN = (
    "the loss is still the number that it began with: begin with a tensor, or skip the update where nothing was added"
)


class LossNeverBegun(Rule):
    code, name = "AG436", "loss-never-begun"
    title = "Skip the update where nothing was added"
    causes = frozenset({Cause.NO_GRAPH, Cause.UNUSED_INPUT, Cause.GRADIENT_NONE})
    tier = Tier.MEANT
    examples = Example.each("""\
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
! a sum over what a pass has
for i in range(9):
    loss = 0
    for x in torch.randn((i + 1) % 3, 4, 2):
        loss += net(x).pow(2).mean()
+    if not torch.is_tensor(loss):
+        continue
    train: loss
! the loop has a condition
i = 0
while i < 9:
    i += 1
    loss = sum(net(x).pow(2).mean() for x in torch.randn(i % 3, 4, 2))
+    if not torch.is_tensor(loss):
+        continue
    train: loss
! nothing was added, and the update is a function's
def update(opt, loss):
    train: loss


def loss_of(found):
    return sum(net(x).pow(2).mean() for x in found)


for i in range(9):
    loss = loss_of(torch.randn((i + 1) % 3, 4, 2))
+    if not torch.is_tensor(loss):
+        continue
    update(opt, loss)
! nothing was added, and what the function gets is no variable
def update(loss):
    train: loss


for i in range(9):
    update(sum(net(x).pow(2).mean() for x in torch.randn((i + 1) % 3, 4, 2)))
! there is no loop whose pass could be left out
loss = sum(net(x).pow(2).mean() for x in torch.randn(0, 4, 2))
loss.backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The rest of a pass left out, from where its loss is known."""
        path, trains = "", None
        for _, source, node in sources.located(diagnosis.failure.stack if _is_begun(diagnosis) else ()):
            statement, function = source.statement(node), source.function(node)
            given = node.value if isinstance(node, ast.Attribute) else calls.started(node)
            path = calls.path_of(calls.handed(node, trains, path) if trains is not None else given)
            loop = source.parent(statement)
            if path and isinstance(loop, (ast.For, ast.While)) and statement in loop.body:
                made = [one for one in blocks.before(loop.body, statement) if path in names.binds(one)]
                after = loop.body[loop.body.index(made[-1]) + 1] if made else statement
                torch, imports = ensure_import(source, "torch")
                edits = insert_before(source, after, [f"if not {torch}.is_tensor({path}):", "    continue"])
                yield self.propose([*imports, *edits], WHY)
            if loop is not function or function is None or path not in calls.parameters(function):
                return
            trains = function

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """At the backward of what never had a graph."""
        if _is_begun(diagnosis):
            yield diagnosis.failure.stack[0], _BEGUN


def _is_begun(diagnosis: Diagnosis) -> bool:
    """Whether the loss is the number that it began with: no graph was lost, there never was one."""
    lost = any(origin.stack and origin.kind != "constant" for origin in diagnosis.trace.origins)
    return not lost and diagnosis.failure.type == "AttributeError" and bool(diagnosis.failure.stack)
