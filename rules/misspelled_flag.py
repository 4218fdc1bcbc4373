"""Flag that is set under a misspelled name.

## What it does
Sets `requires_grad` where a name much like it was set: `p.require_grad = True`, `p.requires_grad_ = True`.

## Why autograd fails
A tensor takes any attribute, and torch looks at `requires_grad` alone. Parameters stay frozen, and a loss of nothing
else has no graph.

## Fix safety
Safe where everything that an optimizer owns then gets its gradient. Declined where anything reads the attribute.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import modes
from autofix.syntax.edits import rename

WHY = "torch looks at this name alone; a tensor takes any other and does nothing with it."


class MisspelledFlag(Rule):
    code, name = "AG408", "misspelled-flag"
    title = "Set requires_grad"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    examples = Example.each("""\
! a letter is missing
net = torch.nn.Linear(3, 1)
for p in net.parameters():
    p.requires_grad = False
for p in net.parameters():
-    p.require_grad = True
+    p.requires_grad = True
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 3)).square().mean()
! the name of a method, and a function that says what it is to be
def switch(net, on):
    for p in net.parameters():
-        p.requires_grad_ = on
+        p.requires_grad = on


net = torch.nn.Linear(3, 1).requires_grad_(False)
switch(net, True)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 3)).square().mean()
! a tensor of one's own
x = torch.ones(3)
-x.requires_gradient = True
+x.requires_grad = True
x.square().sum().backward()
print(x.grad)
! unsafe: the part that stays frozen is owned, too
body, head = torch.nn.Linear(3, 3).requires_grad_(False), torch.nn.Linear(3, 1).requires_grad_(False)
for p in head.parameters():
-    p.require_grad = True
+    p.requires_grad = True
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    train: head(body(torch.randn(5, 3))).square().mean()
! another attribute of the user's
net = torch.nn.Linear(3, 1).requires_grad_(False)
for p in net.parameters():
    p.trained = True
net(torch.randn(5, 3)).square().mean().backward()
! what sets it reads it, too
net = torch.nn.Linear(3, 1).requires_grad_(False)
for p in net.parameters():
    p.require_grad = True
print(sum(p.require_grad for p in net.parameters()))
net(torch.randn(5, 3)).square().mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All of them in the files of the program, together."""
        found = modes.misspelled(sources.reached(diagnosis.failure.stack))
        if edits := [step for source, node in found for step in rename(source, node, modes.FLAG)]:
            yield self.propose(edits, WHY)
