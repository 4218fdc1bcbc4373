"""A leaf is made of a result, and what made it never learns

## What it finds

The code makes a leaf of a network's output: `sim.k = nn.Parameter(net(x))`, or
`torch.tensor(net(x), requires_grad=True)`. The loss depends on the leaf, and no optimizer owns it. An optimizer does
own the network. From the failure on it makes at least three steps with the edit, and in the last ones the network has
no gradient. This is not said

- where an optimizer owns the leaf;
- where another loss trains the network, as one that predicts a start;
- where the program reads the leaf's gradient, as for an adversarial input or a sampler.

## Why it matters

A leaf has no graph. The gradient ends in it and is thrown away, so the network is never trained, and no error says so.
The loss should use the output itself, without `nn.Parameter` around it.
"""

from __future__ import annotations

from autofix.experiments.readings.learning import LEAST
from autofix.verdict.property import Evidence, Example, Finding, Property

PREDICTED = """\
class Spring(nn.Module):
    def __init__(self):
        super().__init__()
        self.k, self.load = nn.Parameter(torch.ones(1)), nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.load - self.k * x


net, spring = nn.Linear(3, 1), Spring()
optimizer = torch.optim.SGD([*net.parameters(), spring.load], lr=0.1)
for _ in range(4):
    k = net(torch.randn(6, 3))
    spring.k = nn.Parameter(k)
    out = spring(torch.randn(6, 1))
    loss = out.square().mean()
    optimizer.zero_grad()
    loss.backward()
    size = sum(p.grad.norm() for p in net.parameters())
    optimizer.step()
"""
AS_TENSOR = PREDICTED.replace("nn.Parameter(k)\n", "nn.Parameter(torch.ones(1))\n").replace(
    "spring(torch.randn(6, 1))", "spring(torch.randn(6, 1)) - torch.tensor(k, requires_grad=True)"
)
STEPPED = PREDICTED.replace(
    "    optimizer.zero_grad()", "    fast = torch.optim.SGD([spring.k], lr=0.1)\n    optimizer.zero_grad()"
).replace("    optimizer.step()", "    optimizer.step()\n    fast.step()")
ASKED = AS_TENSOR.replace("torch.tensor(k, requires_grad=True)", "leaf").replace(
    "    out =", "    leaf = torch.tensor(k, requires_grad=True)\n    out ="
)
ASKED = ASKED.replace("    optimizer.step()", "    print(leaf.grad.norm())\n    optimizer.step()")
LEFT_OUT = ("for p in net.parameters())\n", "for p in net.parameters() if p.grad is not None)\n")


class LeafIsMadeOfResult(Property):
    sentence = "{subject} never gets a gradient: the graph of this loss ends at a leaf that is made of its result"
    raises = (Example(PREDICTED, *LEFT_OUT), Example(AS_TENSOR, *LEFT_OUT))
    silent = (Example(STEPPED, *LEFT_OUT), Example(ASKED, *LEFT_OUT))

    def find(self, evidence: Evidence) -> Finding | None:
        live = evidence.edited
        starved = {
            f"{index} {place}": name
            for index, names in enumerate(live.names[: len(live.counts)])
            for place, name in enumerate(names)
            if len(steps := [one for one in evidence.later(live, index) if one.asks]) >= LEAST
            and not any(any(step.gradients[place : place + 1]) for step in steps[-LEAST:])
        }
        facts = evidence.sourced.seen("leaf-of-result") if starved else ()
        found = ((starved[one.subject], one.stack) for one in facts if one.subject in starved)
        return next((self.found(stack, subject=name) for name, stack in found), None)
