"""Operands are written in turn

## What it finds

Writes stand in a row, and one reads what another has just written. The edit keeps the order, and it
matters: a run in which each reads what was before them all takes other steps. There are three such rows:

- two writes beside each other that are one statement with its two names exchanged (`a -= b.mean()`, then
  `b -= a.mean()`);
- factors that are multiplied onto one name, each product being used before the next: `x *= masks[:, k]` in a loop over
  `k`, `x.mul_(m)` in one over masks, or `x *= masks[0]` and later `x *= masks[1]`;
- a chain of writes in one expression, of which a later one reads the tensor itself: `x.mul_(k).add_(x[order])`.

It is not said where two writes differ in more than the names, as steps of an integrator and the halves of a reversible
block do; nor where a factor is made of what the loop makes, where the product begins with ones, as that of a
transmittance or of a discount does, or where it is used behind the loop alone.

## Why it matters

What reads as symmetric is not: the second operand gets what the first one was already changed by, and the second mask
lies upon the first. Each alone looks right, and the edit that binds the names anew one after the other keeps it so.
"""

from __future__ import annotations

from autofix.verdict.left_open import in_turn
from autofix.verdict.property import Evidence, Example, Finding, Property

MEANS = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    real, fake = torch.tanh(net(torch.randn(6, 3))), torch.tanh(net(torch.randn(6, 3) + 1))
    real -= fake.mean()
    fake -= real.mean()
    loss = (real - 1).square().mean() + (fake + 1).square().mean()
    train: loss
"""
WRITES = "    real -= fake.mean()\n    fake -= real.mean()\n"
BOUND = (WRITES, "    real = real - fake.mean()\n    fake = fake - real.mean()\n")
SPARED = (
    "torch.tanh(net(torch.randn(6, 3))), torch.tanh(net(torch.randn(6, 3) + 1))",
    "torch.tanh(net(torch.randn(6, 3))).clone(), torch.tanh(net(torch.randn(6, 3) + 1)).clone()",
)
MASKS = """\
net, gates, head = nn.Linear(3, 4), nn.Linear(4, 8), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *gates.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    mixture = torch.tanh(net(torch.randn(6, 3)))
    masks = torch.sigmoid(gates(mixture)).view(6, 2, 4)
    part, parts = mixture, []
    for k in range(2):
        part *= masks[:, k]
        parts.append(head(part))
    loss = (parts[0] - 1).square().mean() + (parts[1] + 1).square().mean()
    train: loss
"""
PRODUCT = "part *= masks[:, k]", "part = part * masks[:, k]"
ALONE = "part *= masks[:, k]", "part = mixture * masks[:, k]"
LOOP = MASKS[MASKS.index("    for k in") : MASKS.index("    loss =")]
TURN = "    part *= masks[:, {}]\n    parts.append(head(part))\n"
UNROLLED = MASKS.replace(LOOP, TURN.format(0) + TURN.format(1))
LEFT = MASKS.replace("part, parts = mixture, []", "part, parts = torch.ones_like(mixture), []")
LEFT = LEFT.replace("parts.append(head(part))", "parts.append(head(mixture * part))")
CASCADE = MASKS.replace("part *= masks[:, k]", "gate = torch.sigmoid(part + masks[:, k])\n        part *= gate")
MIXED = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    h = torch.sigmoid(net(torch.randn(6, 3)))
    order = torch.randperm(6)
    h.mul_(0.7).add_(h[order], alpha=0.3)
    loss = (head(h) - 1).square().mean()
    train: loss
"""
COPIED = "    h.mul_", "    h = h.clone()\n    h.mul_"
SEVERAL = "h.mul_(0.7).add_(h[order], alpha=0.3)", "h = h.mul(0.7)\n    h = h.add(h[order], alpha=0.3)"


def _written(first: str, second: str) -> str:
    return MEANS.replace(WRITES, f"    {first}\n    {second}\n")


class OperandsWrittenInTurn(Property):
    change = "at_once"
    sentence = (
        "of several like writes in a row, a later one reads what an earlier one wrote; each may be meant to read the "
        "values from before all of them"
    )
    raises = (
        Example(MEANS, *BOUND),
        Example(MEANS, *SPARED),
        Example(_written("real -= 0.1 + fake.mean()", "fake -= 0.1 + real.mean()"), *SPARED),
        Example(MASKS, *PRODUCT),
        Example(UNROLLED, "part *= masks", "part = part * masks"),
        Example(
            MASKS.replace("part *= masks[:, k]", "part.mul_(masks[:, k])"), "part.mul_(masks", "part = part.mul(masks"
        ),
        Example(MIXED, *COPIED),
        Example(MIXED, *SEVERAL),
    )
    silent = (
        Example(MEANS, WRITES, "    real, fake = real - fake.mean(), fake - real.mean()\n"),
        Example(_written("real -= real.mean()", "fake -= fake.mean()"), *SPARED),
        Example(_written("real -= fake.mean()", "fake += real.mean()"), *SPARED),
        Example(_written("real -= fake.mean()", "fake -= real.amax()"), *SPARED),
        Example(_written("real -= fake.mean()", "shown = real.mean()\n    fake -= real.mean()"), *SPARED),
        Example(_written("real -= fake.mean().detach()", "fake -= real.mean() * 0"), *SPARED),
        Example(MASKS, *ALONE),
        Example(LEFT, *PRODUCT),
        Example(CASCADE, "part *= gate", "part = part * gate"),
        Example(MIXED.replace("h[order]", "h.new_ones(1)"), *COPIED),
        Example(MIXED.replace("h[order]", "net.weight.mean()"), *COPIED),
        Example(MIXED.replace("mul_(0.7).add_(h[order], alpha=0.3)", "sub_(h.mean()).div_(h.std())"), *COPIED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        return self.found(in_turn.place(evidence)) if in_turn.before(evidence) is not None else None
