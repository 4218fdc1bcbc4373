"""A sample that is handed over keeps its graph in the loss that weighs it.

## What it does
Detaches the sample where it is drawn: `action = (mean + std * noise).detach()`.

## Why autograd fails
The sample has a graph to the mean and the spread that it was made of, and an array has no place for that. To detach it
for the hand-over alone leaves the graph in the loss: the log-probability of `mean + std * noise` does not depend on the
mean, whose gradient is then zero, or what a bound that the sample goes through sends it.

## Fix safety
Safe where what a loss sends to the log-probability of the sample depends on what was handed over, and nothing else in
that loss is made of the sample. Elsewhere the path of the sample may be what trains, and the edit changes gradients.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax.edits import as_data

WHY = "What came of the sample is weighed with the sample as it was: to the loss it is data."


class SampleKeptWithGraph(Rule):
    code, name = "AG429", "sample-kept-with-graph"
    title = "Detach the sample where it is drawn"
    causes = frozenset({Cause.CONVERSION})
    tier = Tier.CUT
    examples = Example.each("""\
! a policy whose log-probability is weighed by what an environment gives
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(5):
    mean, std = net(torch.randn(6, 3)).chunk(2, 1)
    std = std.exp()
-    act = mean + std * torch.randn_like(mean)
+    act = (mean + std * torch.randn_like(mean)).detach()
    reward = torch.as_tensor(-abs(act.numpy() - 0.5))
    loss = -(torch.distributions.Normal(mean, std).log_prob(act) * reward).mean()
    train: loss
! noise under a name, in a method of its own
class Actor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.spread = torch.nn.Linear(3, 1), torch.nn.Parameter(torch.zeros(1))

    def act(self, seen):
        mean, std = self.mean(seen), self.spread.exp()
        noise = 0.5 * torch.randn(len(seen), 1)
-        return mean + std * noise, mean, std
+        return (mean + std * noise).detach(), mean, std


actor = Actor()
opt = torch.optim.SGD(actor.parameters(), lr=0.05)
for _ in range(5):
    act, mean, std = actor.act(torch.randn(6, 3))
    reward = torch.as_tensor(-abs(act.numpy() - 0.5))
    density = -((act - mean) / std).square() / 2 - std.log()
    loss = -(density * reward).mean()
    train: loss
! a bound between the sample and the hand-over
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(5):
    mean, std = net(torch.randn(6, 3)).chunk(2, 1)
    dist = torch.distributions.Normal(mean, std.exp())
-    raw = dist.rsample()
+    raw = dist.rsample().detach()
    act = torch.tanh(raw)
    reward = torch.as_tensor(-abs(act.numpy() - 0.5))
    loss = -(dist.log_prob(raw) * reward).mean()
    train: loss
! a bound whose density is in the loss, too
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(5):
    mean, std = net(torch.randn(6, 3)).chunk(2, 1)
    std = std.exp()
-    raw = mean + std * torch.randn_like(mean)
+    raw = (mean + std * torch.randn_like(mean)).detach()
    act = torch.tanh(raw)
    reward = torch.as_tensor(-abs(act.numpy() - 0.5))
    density = -((raw - mean) / std).square() / 2 - std.log() - torch.log(1.01 - act**2)
    loss = -(density * reward).mean()
    train: loss
! unsafe: an entropy that is estimated by samples, and only shown what came of them
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(5):
    mean, std = net(torch.randn(6, 3)).chunk(2, 1)
    std = std.exp()
-    raw = mean + std * torch.randn_like(mean)
+    raw = (mean + std * torch.randn_like(mean)).detach()
    act = torch.tanh(raw)
    print(act.numpy().mean())
    density = -((raw - mean) / std).square() / 2 - std.log() - torch.log(1.01 - act**2)
    train: density.mean()
! unsafe: a critic that judges the sample trains the actor by its path
actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(1, 1).requires_grad_(False)
opt = torch.optim.SGD(actor.parameters(), lr=0.05)
for _ in range(5):
    mean, std = actor(torch.randn(6, 3)).chunk(2, 1)
-    act = mean + std.exp() * torch.randn_like(mean)
+    act = (mean + std.exp() * torch.randn_like(mean)).detach()
    print(act.numpy().mean())
    loss = -critic(act).mean() - 0.1 * std.mean()
    train: loss
! no draw goes into what is handed over
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(5):
    out = net(torch.randn(6, 3))
    print(out.numpy().mean())
    train: out.square().mean()
! a draw went into the input of a network, and not into what that gives
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(5):
    noise = torch.randn(6, 3)
    made = net(noise)
    shown = made * 2
    print(shown.numpy().mean())
    train: made.square().mean()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each tensor that was refused."""
        for made in diagnosis.lost("nonleaf"):
            yield self.propose(as_data(sources, made), WHY)
