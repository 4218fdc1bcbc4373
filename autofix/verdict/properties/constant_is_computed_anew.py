"""What a step only reads is computed anew

## What it finds

The edit computes something anew after a step, and with newer parameters, that is a constant to the optimizer whose
gradient changes first: no gradient for it flows there. What does lead to that optimizer's parameters applies nothing
that was stepped, so that its gradient in the code needs no newer values. Examples are an advantage that a critic made
before its step, and the neighbour's values in a loss that two networks share. This is not said

- where the gradient goes through a network that was stepped, as a generator's does through the discriminator: what else
  that network gave has to be as new;
- where one optimizer owns all, so that nothing is a constant to it.

## Why it matters

The step is then made with other numbers than the code has, and nothing that failed asks for that: cut from its graph,
the value is the one that the code computed. The one before the step may be meant, as data are, or the newer one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.core.model import Effect
from autofix.experiments.compare import EXACT, LIVE, first_departing
from autofix.verdict.property import Example, Property

if TYPE_CHECKING:
    from autofix.core.model import Finding
    from autofix.verdict.evidence import Evidence

ACTOR = """
import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
of_actor, of_critic = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (actor, critic))
for _ in range(5):
    state, reward = torch.randn(6, 4), torch.randn(6)
    value = critic(state).squeeze(1)
    of_critic.zero_grad()
    (value - reward).square().mean().backward()
    of_critic.step()
    loss = LOSS
    of_actor.zero_grad()
    loss.backward()
    of_actor.step()
"""
ADVANTAGE = ACTOR.replace("LOSS", "-(actor(state).log_softmax(1)[:, 0] * (reward - value)).mean()")
THROUGH = ACTOR.replace("nn.Sequential(nn.Linear(4,", "nn.Sequential(nn.Linear(6,").replace(
    "value = critic(state)", "value = critic(torch.cat([state, actor(state).detach()], 1))"
)
THROUGH = THROUGH.replace("LOSS", "(value - critic(torch.cat([state, actor(state)], 1)).squeeze(1)).mean()")
SHARED = """
import torch
from torch import nn

torch.manual_seed(0)
left, right = (nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1)) for _ in range(2))
of_left, of_right = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (left, right))
x = torch.rand(5, 1)
for _ in range(5):
    u, v = left(x), right(x)
    loss_left = (u - 1).square().mean() + (u - v).square().mean()
    loss_right = (v + 1).square().mean() + (v - u).square().mean()
    of_left.zero_grad()
    loss_left.backward(retain_graph=True)
    of_left.step()
    of_right.zero_grad()
    loss_right.backward()
    of_right.step()
"""
GAN = """
import torch
from torch import nn

torch.manual_seed(0)
G, D = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
of_g, of_d = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (G, D))
for _ in range(5):
    real, fake = torch.randn(6, 4), G(torch.randn(6, 3))
    for_real, for_fake = D(real), D(fake)
    of_d.zero_grad()
    (for_fake - for_real).tanh().mean().backward(retain_graph=True)
    of_d.step()
    of_g.zero_grad()
    (for_real - for_fake).square().mean().backward()
    of_g.step()
"""
NEIGHBOUR = (
    "    of_right.zero_grad()\n    u = left(x)\n    loss_right = (v + 1).square().mean() + (v - u).square().mean()\n"
)
VALUE = "    value = critic(torch.cat([state, actor(state).detach()], 1)).squeeze(1)\n    loss = (value"


class ConstantIsComputedAnew(Property):
    name = "constant-is-computed-anew"
    runs = ("edited", "letter", "sourced")
    sentence = (
        "this loss is given anew, with newer parameters, what the step behind it only reads: the value from before "
        "that step may be meant, cut from its graph"
    )
    raises = (
        Example(ADVANTAGE, "    loss = ", "    value = critic(state).squeeze(1)\n    loss = "),
        Example(SHARED, "    of_right.zero_grad()\n", NEIGHBOUR),
    )
    silent = (
        Example(GAN, "    of_g.zero_grad()\n", "    of_g.zero_grad()\n    for_real, for_fake = D(real), D(fake)\n"),
        Example(ADVANTAGE, "(reward - value)", "(reward - value.detach())"),
        Example(THROUGH, "    loss = (value", VALUE),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        letter, edited = evidence.letter, evidence.edited
        newer = evidence.assessment.effect in (Effect.REFRESHED, Effect.REFRESHED_TRUNCATED)
        if not newer or len(letter.counts) < 2:  # noqa: PLR2004  nothing is a constant to one optimizer alone
            return None
        departing = (first_departing(letter, edited, tolerance) for tolerance in (LIVE, EXACT))
        first = {f"{found[0].optimizer} {found[2]}" for found in departing if found is not None}
        facts = (one for one in evidence.sourced.seen("constant-was-stepped") if one.subject in first)
        return next((self.found(one.stack) for one in facts), None)
