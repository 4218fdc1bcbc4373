"""A graph is made for a derivative, and nothing uses it

## What it finds

torch refused a write to a leaf, a derivative was asked for with `create_graph=True`, and no backward ever goes
through the graph that it was given.

## Why it matters

An inner step of MAML that is written as an update trains at first order only, and the author asked for the second.
"""

from __future__ import annotations

from autofix.experiments.readings.letters import ambiguous
from autofix.verdict.property import Evidence, Example, Finding, Seen

INNER_STEP = """\
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    saved = {name: value.clone() for name, value in net.state_dict().items()}
    inner = (net(torch.randn(4, 2)) - 1).square().mean()
    for p, g in zip(net.parameters(), torch.autograd.grad(inner, list(net.parameters()), create_graph=True)):
        p -= 0.1 * g
    optimizer.zero_grad()
    (net(torch.randn(4, 2)) - 1).square().mean().backward()
    net.load_state_dict(saved)
    optimizer.step()
"""
FIRST_ORDER = INNER_STEP.replace(", create_graph=True", "")


class CreateGraphUnused(Seen):
    fact = "wasted"
    anyway = True
    sentence = "this derivative gets a graph (create_graph=True), but no backward ever goes through it"
    raises = (Example(INNER_STEP, "p -= 0.1 * g", "p.data -= 0.1 * g"),)
    silent = (Example(FIRST_ORDER, "p -= 0.1 * g", "p.data -= 0.1 * g"),)

    def find(self, evidence: Evidence) -> Finding | None:
        return self.first(evidence.edited) if ambiguous(evidence.letter) else None
