"""Tensors that a function of numpy's joins.

## What it does
Joins them with torch: `torch.stack(outs).mean(0)` in place of `np.mean(outs, 0)`, `torch.cat` for `np.concatenate`.
With it go on what the function returns of the array, and other calls of the same function in the file.

## Why autograd fails
numpy asks each tensor of a list for its array, which has no place for the graph. torch refuses rather than lose it.

## Fix safety
Safe where every parameter of the optimizers gets the gradient that the joined values send it. What is only printed is
left to `tensor-to-numpy`. Where something else has a graph beside the array, it may be meant as a constant, and the
edit is unsafe.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step
from autofix.syntax.translate.expressions import Way, Wrap
from autofix.syntax.translate.functions import Translation
from autofix.syntax.translate.words import COMES, LEAVES
from autofix.syntax.translate.written import written_out

WHY = "torch joins the tensors, and what goes on from here knows what it was computed from."


class TensorsJoinedByNumpy(Rule):
    code, name = "AG416", "tensors-joined-by-numpy"
    title = "Join the tensors with torch instead of numpy"
    causes = frozenset({Cause.CONVERSION})
    tier = Tier.MEANT
    examples = Example.each("""\
import numpy as np
! a mean of layers
class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(2))
        self.head = torch.nn.Linear(3, 1)

    def forward(self, x):
        outs = [x]
        for part in self.parts:
            x = torch.tanh(part(x))
            outs.append(x)
-        return self.head(np.mean(outs, 0))
+        return self.head(torch.mean(torch.stack(outs), dim=0))


net = Layers()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    train: net(x).pow(2).mean()
! what the function returns goes on with it
heads, out = torch.nn.ModuleList(torch.nn.Linear(3, 2) for _ in range(2)), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*heads.parameters(), *out.parameters()], lr=0.1)


def best_of(x):
-    found = np.array([head(x) for head in heads])
-    return torch.from_numpy(np.max(found, axis=0))
+    found = torch.stack([head(x) for head in heads])
+    return torch.amax(found, dim=0)


for x in torch.randn(4, 5, 3):
    train: out(best_of(x)).pow(2).mean()
! unsafe: the ensemble may be the target of the network alone
net, others = torch.nn.Linear(3, 2), torch.nn.ModuleList(torch.nn.Linear(3, 2) for _ in range(2))
opt = torch.optim.SGD([*net.parameters(), *others.parameters()], lr=0.1)
for x in torch.randn(4, 5, 3):
    outs = [other(x) for other in others]
    opt.zero_grad()
-    (net(x) - torch.as_tensor(np.mean(outs, 0))).pow(2).mean().backward()
+    (net(x) - torch.mean(torch.stack(outs), dim=0)).pow(2).mean().backward()
    opt.step()
! what is printed is only looked at
net = torch.nn.Linear(3, 2)
outs = [net(x) for x in torch.randn(2, 5, 3)]
print(np.mean(outs, 0).sum())
sum(outs).pow(2).mean().backward()
! the tensor itself is asked for its array
net, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
head(torch.from_numpy(net(torch.randn(5, 3)).numpy())).sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For the refused call alone; for all that its function returns; for all calls like it in the file."""
        for _, source, node in sources.located(diagnosis.failure.stack[:1]):
            if not isinstance(node, ast.Call) or not node.args or calls.name_of(node) in LEAVES:
                return
            if _is_shown(source, node):
                raise Declined("what is printed is only looked at")
            ends = [one.value for one in ast.walk(source.function(node) or node) if isinstance(one, ast.Return)]
            like = [one for one in source.walk() if isinstance(one, ast.Call) and _is_like(one, node)]
            back = [_back(source, one) for one in like]
            roots = ([_back(source, node)], [one for one in ends if one is not None], back)
            for later, several in enumerate(roots):
                with contextlib.suppress(Declined):
                    steps = _joined(source, several, {node, *like}, sources, whole=later == 1)
                    yield self.propose(steps, WHY, later=3 + later)


def _joined(
    source: Source, roots: list[ast.expr], converted: set[ast.AST], sources: Sources, *, whole: bool
) -> list[Step]:
    """The edits that say expressions in torch's words; `whole`: with what they are made of."""
    found = Translation(sources.called, converted, Way(Wrap.NONE))
    made = [found.put(found.scope(source, source.function(one) or source.tree), one) for one in roots]
    if why := next((one.why for one in made if one.why), ""):
        raise Declined(why)
    for scope in found.scopes.values() if not whole else ():
        # What is joined are tensors as they come: what they are made of stays.
        scope.texts = {one: scope.texts[one] for one in roots if one in scope.texts}
        scope.known.clear()
    return written_out(found, sources.reads)


def _back(source: Source, call: ast.Call) -> ast.expr:
    """A call, with the one that makes a tensor of what it gives."""
    outer = source.parent(call)
    makes = isinstance(outer, ast.Call) and outer.args[:1] == [call] and calls.name_of(outer) in COMES
    return outer if makes and isinstance(outer, ast.Call) else call


def _is_like(call: ast.Call, other: ast.Call) -> bool:
    return ast.dump(call.func) == ast.dump(other.func) and len(call.args) == len(other.args)


def _is_shown(source: Source, node: ast.AST) -> bool:
    """Whether an expression is part of what is printed."""
    inside = calls.within(source.statement(node))
    return any(calls.name_of(one) == "print" and node in ast.walk(one) for one in inside)
