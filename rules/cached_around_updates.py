"""Context that keeps what is made of parameters, entered around a loop that updates them.

## What it does
Enters `parametrize.cached()` anew in each pass of the loop.

## Why autograd fails
The context keeps what was made of a parameter until it is left. The first backward frees the graph of what is kept, and
the next pass goes through it again. Kept with `retain_graph=True`, it would be that of parameters from before the step.

## Fix safety
Safe where the run shows the gradients of the code, computed with the parameters that the step wrote.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls
from autofix.syntax.edits import Splice, Step

WHY = "What the context caches is computed anew in each iteration, from the current parameters."


class CachedAroundUpdates(Rule):
    code, name = "AG207", "cached-around-updates"
    title = "Enter the context in each pass"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.ANSWER
    examples = Example.each("""\
from torch.nn.utils import parametrize
! a loop over passes
class Rotation(torch.nn.Module):
    def forward(self, x):
        return torch.matrix_exp(x - x.t())


net = torch.nn.Linear(3, 3)
parametrize.register_parametrization(net, "weight", Rotation())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
-with parametrize.cached():
-    for _ in range(4):
+for _ in range(4):
+    with parametrize.cached():
        loss = (net(torch.randn(5, 3)) + net(torch.randn(5, 3)) - 1).pow(2).mean()
        train: loss
! a loop over batches, in a method
import torch.nn.utils.parametrize as P
from torch.nn.utils.parametrizations import orthogonal


class Trainer:
    def __init__(self):
        self.net = orthogonal(torch.nn.Linear(3, 3), orthogonal_map="matrix_exp", use_trivialization=False)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def fit(self, batches):
-        with P.cached():
-            for x in batches:  # one pass over the data
+        for x in batches:
+            with P.cached():  # one pass over the data
                train[self.opt]: (self.net(x) - x.flip(1)).pow(2).mean()


Trainer().fit(torch.randn(4, 5, 3))
! a loop that counts
from torch.nn.utils.parametrize import cached, register_parametrization


class Bounded(torch.nn.Module):
    def forward(self, x):
        return x.tanh()


net = torch.nn.Linear(3, 1)
register_parametrization(net, "weight", Bounded())
opt, step = torch.optim.SGD(net.parameters(), lr=0.1), 0
-with cached():
-    while step < 4:
+while step < 4:
+    with cached():
        loss = net(torch.randn(5, 3)).exp().mean()
        train: loss
        step += 1
! the context keeps nothing
w = torch.ones(3, requires_grad=True)
h = w.exp()
with torch.enable_grad():
    for _ in range(2):
        h.sum().backward()
! it is entered in each pass already
w = torch.ones(3, requires_grad=True)
h = w.exp()
for _ in range(2):
    with parametrize.cached():
        h.sum().backward()
! more than the loop stands in the context
w = torch.ones(3, requires_grad=True)
with parametrize.cached():
    h = w.exp()
    for _ in range(2):
        h.sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each such context that holds nothing but a loop through which the failing backward came round."""
        for _, source, node in sources.nodes(diagnosis.failure.stack):
            for loop in blocks.loops(source, node):
                around = source.parent(loop)
                if isinstance(around, ast.With) and any(map(_keeps, around.items)):
                    yield self.propose(_exchanged(source, around, loop), WHY)


def _keeps(item: ast.withitem) -> bool:
    return isinstance(item.context_expr, ast.Call) and calls.name_of(item.context_expr) == "cached"


def _exchanged(source: Source, around: ast.With, loop: ast.For | ast.While) -> list[Step]:
    """Both headers, each in the other's place: what stands in them keeps its depth."""
    if around.body != [loop] or loop.orelse:
        raise Declined("more than one loop stands in the context")
    outer, inner = (_header(source, one) for one in (around, loop))
    text = source.text
    if any("\n" in text[slice(*span)] for span in (outer, inner)) or outer[1] > inner[0]:
        raise Declined("a header does not stand on one line of its own")
    return [Splice(source, *outer, text[slice(*inner)]), Splice(source, *inner, text[slice(*outer)])]


def _header(source: Source, statement: ast.With | ast.For | ast.While) -> tuple[int, int]:
    """From the first word of a compound statement to its colon."""
    start = source.index(statement.lineno, statement.col_offset)
    first = source.extent(statement.body[0])[0]
    return start, start + source.text[start:first].rindex(":") + 1
