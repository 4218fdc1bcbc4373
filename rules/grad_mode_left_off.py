"""Gradients that were switched off and never came back.

## What it does
Switches gradients on again where the function that switched them off ends, or for the function that needs them.

## Why autograd fails
While gradients are off no graph is recorded. The loss then has none either.

## Fix safety
Safe where one place alone switched gradients off and every parameter that an optimizer owns gets its gradient when that
place does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax.edits import at_end, delete, ensure_import, with_gradient, without_gradient

WHY_BACK = "Gradients are on again for what comes after; the part without gradient stays without."
WHY_OFF = "The forward that backward goes through records its graph."


class GradModeLeftOff(Rule):
    code, name = "AG402", "grad-mode-left-off"
    title = "Switch gradients on again"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    examples = Example.each("""\
net = torch.nn.Linear(2, 1)
! a validation switches gradients off
opt = torch.optim.SGD(net.parameters(), lr=0.1)


+@torch.no_grad()
def validate():
-    torch.set_grad_enabled(False)
    return net(torch.randn(5, 2)).mean().item()


for _ in range(4):
    loss = net(torch.randn(5, 2)).pow(2).mean()
    train: loss
    validate()
! the script does, and a function trains
opt = torch.optim.SGD(net.parameters(), lr=0.1)
torch.set_grad_enabled(False)


+@torch.enable_grad()
def train(x):
    train: net(x).pow(2).mean()


for _ in range(4):
    train(torch.randn(5, 2))
    print(net(torch.randn(5, 2)).mean().item())
! a method does
class Trainer:
    def __init__(self):
        self.net = torch.nn.Linear(2, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

+    @torch.no_grad()
    def score(self, x):
-        torch.set_grad_enabled(False)
        return self.net(x).mean().item()

    def fit(self):
        for _ in range(4):
            x = torch.randn(5, 2)
            train[self.opt]: self.net(x).pow(2).mean()
            print(self.score(x))


Trainer().fit()
! the mode is entered by hand, at a call that says nothing of gradients
off = torch.no_grad()
off.__enter__()
net(torch.randn(5, 2)).pow(2).mean().backward()
! gradients are off for a block, which ends by itself
with torch.set_grad_enabled(False):
    net(torch.randn(5, 2)).pow(2).mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At each statement that switches gradients off for good."""
        seen: set[tuple[str, int]] = set()
        for source, node in sources.innermost(diagnosis.lost("no_grad")):
            statement, place = source.statement(node), (str(source.path), getattr(node, "lineno", 0))
            if place not in seen and "set_grad_enabled" in ast.unparse(node) and isinstance(statement, ast.Expr):
                seen.add(place)
                yield from self._restored(source, statement)
                yield from self._enabled(diagnosis, sources)

    def _restored(self, source: Source, statement: ast.Expr) -> Iterator[Proposal]:
        """`@torch.no_grad()` on the function that switches gradients off, or on again where it ends."""
        if (function := source.function(statement)) is None:
            return
        edits = [*without_gradient(source, function), *delete(source, statement)]
        yield self.propose(edits, WHY_BACK, title="Switch gradients off for this function only")
        torch, imports = ensure_import(source, "torch")
        back = at_end(source, function, [f"{torch}.set_grad_enabled(True)"])
        yield self.propose([*imports, *back], WHY_BACK, later=1)

    def _enabled(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Gradients switched on for the function that trains, and as they were when it ends."""
        for _, source, node in sources.located(diagnosis.failure.stack[:1]):
            if (function := source.function(node)) is not None:
                edits = with_gradient(source, function)
                yield self.propose(edits, WHY_OFF, title="Switch gradients on for this function", later=3)
