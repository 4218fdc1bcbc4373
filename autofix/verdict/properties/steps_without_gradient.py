"""An optimizer steps without any gradient

## What it finds

An optimizer made at least three steps in the edited run, and used no gradient at all in any of them, although a loss
depends on the values of its parameters; or no optimizer used anything but zeros. It is silent where the optimizer
waits: no loss is computed from its network (idle, gated, of another phase), all that it owns is frozen, a term has the
weight 0 for now, or it had a gradient at any step.

## Why it matters

Its network is not trained. A generator whose loss is made of `D(fake.detach())` is one; so is a policy whose old
log-probabilities are computed anew with its new ones, so that their ratio is 1 and its gradient 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.compare import norm
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
POLICY = """
import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(4, 2)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.05)
for _ in range(4):
    seen = torch.randn(10, 4)
    old = policy(seen).log_softmax(-1)[:, 0]
    for epoch in range(2):
        new = policy(seen).log_softmax(-1)[:, 0]
        loss = -((new - old).exp() * seen[:, 0]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
ENTROPY = POLICY.replace(".mean()", ".mean() + 0.1 * new.mean()")
NEW = "        new = policy(seen)"
ANEW = "        old = policy(seen).log_softmax(-1)[:, 0]\n" + NEW
IDLE = GAN.replace("score = D(fake.detach())", "score = D(torch.randn(8, 6))")


class StepsWithoutGradient(Property):
    name = "steps-without-gradient"
    runs = ("edited", "letter")
    sentence = "the optimizer of {owner} steps {how}, {count} times, though a loss depends on it"
    raises = (
        Example(GAN, "loss_g = F.mse_loss(score, one)", "loss_g = F.mse_loss(D(fake.detach()), one)"),
        Example(POLICY, NEW, ANEW),
    )
    silent = (
        Example(IDLE, "loss_g = F.mse_loss(score, one)", "loss_g = F.mse_loss(D(torch.randn(8, 6)), one)"),
        Example(ENTROPY, NEW, ANEW),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        live = evidence.edited
        trains = any(norm(gradient) for step in live.steps for gradient in step.gradients)
        for index, names in enumerate(
            live.names[: len(live.counts)] if evidence.assessment.effect.keeps_gradients else ()
        ):
            steps = [s for s in live.steps if s.optimizer == index and s.settings != "closure" and s.asks]
            used = [gradient for step in steps for gradient in step.gradients if gradient]
            if len(steps) < LEAST or (trains if used else index not in evidence.letter.used):
                continue
            owner = ", ".join(dict.fromkeys(name.split(".")[0] for name in names)) or f"number {index + 1}"
            how = "with nothing but zeros for gradients" if used else "without any gradient"
            return self.found(owner=owner, how=how, count=str(len(steps)))
        return None
