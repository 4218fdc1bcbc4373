"""A sample keeps its graph in the loss that weighs it

## What it finds

A sample is made of the mean and the spread that a network gives (`action = mean + std * noise`), and handed to what is
no part of torch. A loss weighs its log-probability by what came of that. The edit detaches the sample for the hand-over
alone: in the loss it keeps its graph. In every pass the gradients of what it is made of then cancel out.

It is not said where what the sample is made of learns by the path of the sample, too, as in an actor's loss that a
critic judges, nor where no loss depends on what was handed over.

## Why it matters

The log-probability of `mean + std * noise` depends on the noise and on `std` alone: the network that gives the mean
gets a gradient of zero and never learns what to do. To a loss of this kind the sample is data, and is detached where it
is drawn.
"""

from __future__ import annotations

from autofix.core.model import Finding
from autofix.verdict.evidence import Evidence
from autofix.verdict.laws.what_is_acted_on_is_data import WhatIsActedOnIsData
from autofix.verdict.property import Example, Property

POLICY = """\
actor = nn.Linear(3, 2)
optimizer = torch.optim.SGD(actor.parameters(), lr=0.05)
for _ in range(5):
    seen = torch.randn(6, 3)
    mean, spread = actor(seen).chunk(2, 1)
    spread = spread.exp()
    act = mean + spread * torch.randn_like(mean)
    earned = -abs(act.numpy() - 0.5)
    chance = torch.distributions.Normal(mean, spread).log_prob(act)
    loss = -(chance * WORTH).mean()
    train: loss
"""
REWARDED = POLICY.replace("WORTH", "torch.as_tensor(earned)")
SPELLED = REWARDED.replace(
    "torch.distributions.Normal(mean, spread).log_prob(act)", "-((act - mean) / spread).square() / 2 - spread.log()"
)
DRAWN = REWARDED.replace("mean + spread * torch.randn_like(mean)", "torch.distributions.Normal(mean, spread).rsample()")
JUDGED = REWARDED.replace("actor =", "critic = nn.Linear(4, 1).requires_grad_(False)\nactor =").replace(
    "loss = -", "loss = -critic(torch.cat([seen, act], 1)).mean() - "
)
TOLD = POLICY.replace("chance * WORTH", "chance").replace("loss = -", "print(earned.mean())\n    loss = -")
OUT = ("act.numpy()", "act.detach().numpy()")


class SampleKeepsItsGraph(Property):
    name = "sample-keeps-its-graph"
    change = "sampled"
    runs = ("letter", "sample_moved", "comparisons_moving")
    sentence = (
        "the sample that is handed over here keeps its graph in the loss, where the gradients of what it is made of "
        "cancel out; it may be meant as a constant from where it is drawn"
    )
    raises = (Example(REWARDED, *OUT), Example(SPELLED, *OUT), Example(DRAWN, *OUT))
    silent = (
        Example(JUDGED, *OUT),
        Example(TOLD, *OUT),
        Example(REWARDED, "torch.randn_like(mean)\n", "torch.randn_like(mean)\n    act = act.detach()\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        return self.found(evidence.failure.stack) if WhatIsActedOnIsData().seen(evidence) else None
