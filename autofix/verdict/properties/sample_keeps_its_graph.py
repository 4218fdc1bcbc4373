"""A sample keeps its graph in the loss that weighs it

## What it finds

A sample is made of the mean and the spread that a network gives (`action = mean + std * noise`), and handed to what is
no part of torch. A loss weighs its log-probability by what came of that. The edit detaches the sample for the hand-over
alone: in the loss it keeps its graph. The gradients of what it is made of then cancel out, but for what a bound
(`tanh`) that the sample goes through sends them.

It is not said where what the sample is made of learns by the path of the sample, too, as in an actor's loss that a
critic judges, nor where no loss weighs it by what was handed over, as in an entropy that is estimated by samples.

## Why it matters

The log-probability of `mean + std * noise` depends on the noise and on `std` alone: the network that gives the mean
gets a gradient of zero, or that of the bound, and never learns what to do. To a loss of this kind the sample is data,
and is detached where it is drawn.
"""

from __future__ import annotations

from autofix.verdict.laws.what_is_acted_on_is_data import may_be_weighed
from autofix.verdict.property import Evidence, Example, Finding, Property

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
BOUND = """\
actor = nn.Linear(3, 2)
optimizer = torch.optim.SGD(actor.parameters(), lr=0.05)
for _ in range(5):
    mean, spread = actor(torch.randn(6, 3)).chunk(2, 1)
    raw = mean + spread.exp() * torch.randn_like(mean)
    act = torch.tanh(raw)
    earned = -abs(act.numpy() - 0.5)
    chance = torch.distributions.Normal(mean, spread.exp()).log_prob(raw) - torch.log(1.01 - act**2)
    loss = -(chance * WORTH).mean()
    train: loss
"""
TOGETHER = """\
actor, state = nn.Linear(1, 2), torch.zeros(4, 1)
optimizer = torch.optim.SGD(actor.parameters(), lr=0.05)
for _ in range(5):
    chances, earned = [], []
    for _ in range(3):
        mean, spread = actor(state).chunk(2, 1)
        spread = spread.exp()
        act = mean + spread * torch.randn_like(mean)
        state = torch.tensor([[float(str(one))] for one in act.numpy()[:, 0]])
        chances.append(torch.distributions.Normal(mean, spread).log_prob(act))
        earned.append(float(str(float(state.mean()))))
    loss = torch.stack(chances).mean() + sum(earned)
    train: loss
"""
"""What came of the sample is added, and is seen by the network in what follows: it weighs nothing."""
JUDGED = REWARDED.replace("actor =", "critic = nn.Linear(4, 1).requires_grad_(False)\nactor =").replace(
    "loss = -", "loss = -critic(torch.cat([seen, act], 1)).mean() - "
)
TOLD = POLICY.replace("chance * WORTH", "chance").replace("loss = -", "print(earned.mean())\n    loss = -")
OUT = ("act.numpy()", "act.detach().numpy()")


class SampleKeepsItsGraph(Property):
    change = "sampled"
    sentence = (
        "the sample that is handed over here keeps its graph in the loss that weighs its log-probability: what it is "
        "made of never learns by what comes of it; it may be meant as a constant from where it is drawn"
    )
    raises = (
        Example(REWARDED, *OUT),
        Example(SPELLED, *OUT),
        Example(DRAWN, *OUT),
        Example(BOUND.replace("WORTH", "torch.as_tensor(earned)"), *OUT),
    )
    silent = (
        Example(JUDGED, *OUT),
        Example(TOLD, *OUT),
        Example(BOUND.replace("WORTH", "0.2"), *OUT),
        Example(TOGETHER, *OUT),
        Example(REWARDED, "torch.randn_like(mean)\n", "torch.randn_like(mean)\n    act = act.detach()\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        return self.found(evidence.failure.stack) if may_be_weighed(evidence) else None
