"""A target is trained, and not what it is a target for

## What it finds

The loss holds what a pass was handed against a discounted part of what it makes anew and hands on: `reward + 0.9 *
next_value - value`, where the next pass takes `next_value` for its `value`. The gradients tell: the one has that of the
other, the other way and smaller, in every pass; or as large, without a discount, and in some pass it pushes the two
apart, or single numbers are not pulled by what they differ by. The edit cuts what is handed on. A state that goes on
from the one before, and what is only pulled towards what it was, are no such case.

## Why it matters

Each value is then only trained as a target, towards what was to learn from it; the prediction has no gradient at all.
Meant is the opposite: detach the target, and compute the prediction again with its graph.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Seen

CRITIC = """\
critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=0.05)
value = critic(torch.randn(3))
for _ in range(6):
    state = torch.randn(3)
    next_value = critic(state)
    loss = (LOSS).square().mean()
    train: loss
    value = next_value
"""
SOFT = """\
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
value = torch.full((6, 2), 0.5)
for _ in range(8):
    x = torch.randn(6, 4)
    logits = net(x)
    next_value = logits.softmax(1)
    loss = F.cross_entropy(logits, x[:, 0].gt(0).long()) + F.kl_div(logits.log_softmax(1), value)
    train: loss
    value = next_value
"""
CUT = ("    value = next_value\n", "    value = next_value.detach()\n")


class TargetIsTrained(Seen):
    fact = "target-handed-on"
    sentence = (
        "the value handed on is a target here and the prediction in the next iteration. The edit detaches the "
        "prediction, so that only the target is trained"
    )
    raises = (
        Example(CRITIC.replace("LOSS", "state.sum() + 0.9 * next_value - value"), *CUT),
        Example(CRITIC.replace("LOSS", "next_value - value + state.sum()"), *CUT),
        Example(CRITIC.replace("LOSS", "next_value - value + 1e-3 * state.sum().abs()"), *CUT),
    )
    silent = (
        Example(CRITIC.replace("LOSS", "next_value - value"), *CUT),
        Example(CRITIC.replace("LOSS", "next_value - 0.9 * value"), *CUT),
        Example(CRITIC.replace("(LOSS).square()", "nn.functional.smooth_l1_loss(next_value, value, beta=0.05)"), *CUT),
        Example(SOFT, *CUT),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        return self.first(evidence.letter) if evidence.assessment.effect.truncates else None
