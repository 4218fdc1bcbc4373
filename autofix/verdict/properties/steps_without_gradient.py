"""An optimizer steps without any gradient

## What it finds

An optimizer used no gradient at all in any step of the edited run, made at least three, and a loss depends on the
values of its parameters. It is silent where the optimizer waits: no loss is computed from its network (idle, gated, of
another phase), all that it owns is frozen, or it had a gradient at any step.

## Why it matters

Its network is not trained. A generator whose loss is made of `D(fake.detach())` is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.verdict.property import Example, Property

if TYPE_CHECKING:
    from autofix.model import Finding
    from autofix.verdict.evidence import Evidence

LEAST = 3
"""Steps without any gradient from which on they are no accident of where a run begins."""
GAN = """
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
G, D = nn.Linear(4, 6), nn.Linear(6, 1)
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
real, one, zero = torch.randn(8, 6), torch.ones(8, 1), torch.zeros(8, 1)
for step in range(6):
    fake = G(torch.randn(8, 4))
    score = D(fake.detach())
    loss_d = F.mse_loss(D(real), one) + F.mse_loss(score, zero)
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = F.mse_loss(score, one)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
"""
IDLE = GAN.replace("score = D(fake.detach())", "score = D(torch.randn(8, 6))")


class StepsWithoutGradient(Property):
    name = "steps-without-gradient"
    runs = ("edited", "letter")
    sentence = "the optimizer of {owner} steps without any gradient, {count} times, though a loss depends on it"
    raises = (Example(GAN, "loss_g = F.mse_loss(score, one)", "loss_g = F.mse_loss(D(fake.detach()), one)"),)
    silent = (Example(IDLE, "loss_g = F.mse_loss(score, one)", "loss_g = F.mse_loss(D(torch.randn(8, 6)), one)"),)

    def find(self, evidence: Evidence) -> Finding | None:
        live = evidence.edited
        for index in evidence.letter.used if evidence.assessment.effect.keeps_gradients else ():
            steps = [s for s in live.steps if s.optimizer == index and s.settings != "closure" and s.asks]
            if len(steps) >= LEAST and not any(gradient for step in steps for gradient in step.gradients):
                names = live.names[index] if index < len(live.names) else ()
                owner = ", ".join(dict.fromkeys(name.split(".")[0] for name in names)) or f"number {index + 1}"
                return self.found(owner=owner, count=str(len(steps)))
        return None
