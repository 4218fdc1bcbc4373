"""A number that stands in for a loss where a pass has nothing to train on.

## What it does
Lets the number be a leaf, `torch.tensor(0.0, requires_grad=True)`: backward then passes, and reaches no parameter.

## Why autograd fails
`torch.tensor(0.0)` is made of nothing. A loss made of such numbers alone has no graph, and backward has nowhere to go.

## Fix safety
Safe where other passes give the same loss a graph, and what optimizers own trains there as before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step, replace, set_keyword

WHY = "Where the loss is a number, backward has nothing to do; the other iterations train as they did."
_MAKING = ("tensor", "zeros", "ones", "full", "new_tensor", "new_zeros", "new_ones", "new_full", "zeros_like")


class NumberInPlaceOfLoss(Rule):
    code, name = "AG421", "number-in-place-of-loss"
    title = "Let the number be a leaf"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    usual = (
        "constant",
        "a number has no graph: skip the backward of an iteration without a loss, or let the number be a leaf",
    )
    examples = Example.each("""\
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
! a batch without anything to find
def loss_of(x, found):
    if not found:
-        return torch.tensor(0.0)
+        return torch.tensor(0.0, requires_grad=True)
    return net(x).pow(2).mean()


for i in range(8):
    train: loss_of(torch.randn(4, 2), i % 2)
! each part is a number
for i in range(8):
    out = net(torch.randn(4, 2))
    if i % 2:
        near, far = out.pow(2).mean(), out.abs().mean()
    else:
-        near = torch.tensor(0, dtype=torch.float32)
-        far = torch.tensor(0, dtype=torch.float32)
+        near = torch.tensor(0, dtype=torch.float32, requires_grad=True)
+        far = torch.tensor(0, dtype=torch.float32, requires_grad=True)
    train: (near + 0.5 * far).mean()
! a whole number, as each list of terms has one in such a pass
for i in range(8):
    terms = []
    for x in torch.randn(2, 4, 2):
        if i % 2:
-            terms.append(torch.tensor(0).float())
+            terms.append(torch.tensor(0.0, requires_grad=True).float())
            continue
        terms.append(net(x).pow(2).mean())
    train: torch.stack(terms).mean()
! nothing was added
for i in range(8):
-    loss = torch.zeros(())
+    loss = torch.zeros((), requires_grad=True)
    for x in torch.randn(i % 3, 4, 2):
        loss = loss + net(x).pow(2).mean()
    train: loss
! unsafe: no pass says what the loss is to train
for i in range(8):
    extra = net(torch.randn(4, 2)).pow(2).mean()
-    loss = torch.tensor(0.0)
+    loss = torch.tensor(0.0, requires_grad=True)
    opt.zero_grad()
    loss.backward()
    extra.backward()
    opt.step()
! the graph was cut, and zero is only added
loss = net(torch.randn(4, 2)).detach().mean() + torch.tensor(0.0)
loss.backward()
! data goes into it
loss = torch.tensor(0.0) + (torch.randn(4, 2) > 9).float().sum()
loss.backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All the numbers that the loss is made of in this pass."""
        made = dict.fromkeys(sources.innermost(diagnosis.lost("constant")))
        edits = [
            step for source, call in made if isinstance(call, ast.Call) and calls.name_of(call) in _MAKING
            for step in _as_leaf(source, call)
        ]  # fmt: skip
        if edits:
            yield self.propose(edits, WHY)


def _as_leaf(source: Source, call: ast.Call) -> list[Step]:
    """The number as a leaf; a whole number, which can be none, as a float."""
    leaf = set_keyword(source, call, "requires_grad", "True")
    match call.args:
        case [ast.Constant(int(value)) as given] if calls.name_of(call).endswith("tensor"):
            typed = calls.keyword(call, "dtype") is not None
            return leaf if typed else [*replace(source, given, str(float(value))), *leaf]
    return leaf
