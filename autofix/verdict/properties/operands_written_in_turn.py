"""Two operands are written in turn

## What it finds

Two writes that stand beside each other are one statement with its two names exchanged (`a -= b.mean()`, then
`b -= a.mean()`). The second reads what the first has just written. It matters for training: a run in which both read
what was before them (`a, b = a - b.mean(), b - a.mean()`) takes other steps. The edit keeps the order.

It is not said where the two differ in more than the names: steps of an integrator, the halves of a reversible block.

## Why it matters

What reads as symmetric is not: the second operand gets what the first one was already changed by. Each alone looks
right, and the edit that rebinds both names one after the other keeps it so.
"""

from __future__ import annotations

from autofix.core.model import Finding
from autofix.verdict.evidence import Evidence
from autofix.verdict.left_open import in_turn
from autofix.verdict.property import Example, Property

MEANS = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    real, fake = torch.tanh(net(torch.randn(6, 3))), torch.tanh(net(torch.randn(6, 3) + 1))
    real -= fake.mean()
    fake -= real.mean()
    loss = (real - 1).square().mean() + (fake + 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
WRITES = "    real -= fake.mean()\n    fake -= real.mean()\n"
BOUND = (WRITES, "    real = real - fake.mean()\n    fake = fake - real.mean()\n")
SPARED = (
    "torch.tanh(net(torch.randn(6, 3))), torch.tanh(net(torch.randn(6, 3) + 1))",
    "torch.tanh(net(torch.randn(6, 3))).clone(), torch.tanh(net(torch.randn(6, 3) + 1)).clone()",
)


def _written(first: str, second: str) -> str:
    return MEANS.replace(WRITES, f"    {first}\n    {second}\n")


class OperandsWrittenInTurn(Property):
    name = "operands-written-in-turn"
    runs = ("letter", "trace")
    sentence = (
        "the second of two writes that mirror each other reads what the first one wrote; both may be meant to read "
        "what was before"
    )
    raises = (
        Example(MEANS, *BOUND),
        Example(MEANS, *SPARED),
        Example(_written("real -= 0.1 + fake.mean()", "fake -= 0.1 + real.mean()"), *SPARED),
    )
    silent = (
        Example(MEANS, WRITES, "    real, fake = real - fake.mean(), fake - real.mean()\n"),
        Example(_written("real -= real.mean()", "fake -= fake.mean()"), *SPARED),
        Example(_written("real -= fake.mean()", "fake += real.mean()"), *SPARED),
        Example(_written("real -= fake.mean()", "fake -= real.amax()"), *SPARED),
        Example(_written("real -= fake.mean()", "shown = real.mean()\n    fake -= real.mean()"), *SPARED),
        Example(_written("real -= fake.mean().detach()", "fake -= real.mean() * 0"), *SPARED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        found = evidence.assessment
        if not found.effect.keeps_gradients or (found.reading is not None and found.reading.at_once):
            return None
        return self.found(in_turn.place(evidence)) if in_turn.before(evidence) is not None else None
