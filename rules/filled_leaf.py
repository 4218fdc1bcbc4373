"""A tensor that is filled with results, and was made with a gradient of its own.

## What it does
Makes the tensor without the flag: `seen = torch.zeros(n, 4, requires_grad=True)` becomes `seen = torch.zeros(n, 4)`.

## Why autograd fails
The flag makes the tensor a leaf, and torch refuses to write to a leaf in place. A tensor that is filled needs no
flag: with the first result that has a graph it becomes a result itself, and gradients flow through it.

## Fix safety
The tensor gets no gradient of its own any more. An edit is safe where all that an optimizer owns gets the gradients
that the code describes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names, writes
from autofix.syntax.edits import Step, delete, receiver, remove_keyword

WHY = "Without the flag {name} is no leaf: it may be written, and gradients flow through what is written."


class FilledLeaf(Rule):
    code, name = "AG313", "filled-leaf"
    title = "Make the tensor without requires_grad"
    causes = frozenset({Cause.LEAF_MODIFIED})
    tier = Tier.MEANT
    examples = Example.each("""\
cell = torch.nn.GRUCell(3, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
! results of a loop
for _ in range(5):
-    seen = torch.zeros(2, 6, 4, requires_grad=True)
+    seen = torch.zeros(2, 6, 4)
    h = torch.zeros(2, 4)
    for i in range(6):
        h = cell(torch.randn(2, 3), h)
        seen[:, i] = h
    train: seen.square().mean()
! in a container
for _ in range(5):
-    states = {0: torch.zeros(2, 4).requires_grad_()}
+    states = {0: torch.zeros(2, 4)}
    h = cell(torch.randn(2, 3))
    states[0][1] = h[0]
    train: states[0].square().mean()
! unsafe: an update of the values would train, too
for _ in range(5):
    start = torch.zeros(2, 4)
-    start.requires_grad = True
    start += cell(torch.randn(2, 3))
    train: cell(torch.randn(2, 3), start).square().mean()
! an update of a leaf by its gradient
w = torch.zeros(3, requires_grad=True)
(w - 1).square().sum().backward()
w -= 0.1 * w.grad
! a leaf gets a value to start from
w = torch.empty(3, requires_grad=True)
w[0] = 1.0
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where the tensor became a leaf, as the run has seen it; else where the name that is written is assigned."""
        for _, source, node in sources.nodes(diagnosis.failure.stack[:1]):
            name = writes.written(source, node)
            if writes.is_update(source, node):
                raise Declined("it is an update of a leaf by a gradient")
            if not {path.split(".")[0] for path in names.reads(source.statement(node))} - {name, "torch"}:
                raise Declined("what is written is a start, which has no graph")
            stacks = [one.stack for one in diagnosis.trace.origins if one.kind == "begun"]
            made = list(sources.innermost(stacks))
            if not made:
                made = [(source, one.value) for one in names.assignments(source, name) if one.value is not None]
            for where, maker in made:
                if edits := _unflagged(where, maker):
                    bound = sorted(names.binds(where.statement(maker)))  # what is written may be a view of it
                    yield self.propose(edits, WHY.format(name=bound[0] if len(bound) == 1 else "the tensor"))


def _unflagged(source: Source, node: ast.AST) -> list[Step]:
    """Takes away what asks for the gradient of what is made here."""
    if calls.flagged(source.statement(node)) is not None:
        return delete(source, source.statement(node))
    for call in calls.within(node):
        if calls.keyword(call, "requires_grad") is not None:
            return remove_keyword(source, call, "requires_grad")
        if calls.name_of(call) == "requires_grad_" and isinstance(call.func, ast.Attribute):
            return receiver(source, call)
    return []
