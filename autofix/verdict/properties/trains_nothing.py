"""A derivative is zero everywhere

## What it finds

The code asks for the derivative of an output by an input that the output does not depend on. So the derivative is zero.

## Why it matters

A residual of zeros trains nothing: the output was meant to depend on that input. This is not said where only some of
several inputs are unused, such as a head that an inner loop leaves out. Nor is it of a column of an input that was used
whole: the derivative by that is a column of the derivative by the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.verdict.property import Example, Property

if TYPE_CHECKING:
    from autofix.core.model import Finding
    from autofix.verdict.evidence import Evidence

SLICED = """
import torch
from torch import nn

torch.manual_seed(0)
net, other = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)), nn.Parameter(torch.ones(1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    points = torch.rand(16, 2).requires_grad_()
    x = points[:, :1].clone()
    u = net(points)
    slope = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    loss = (slope - 1).square().mean() + u.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BESIDE_OTHERS = SLICED.replace("u.sum(), x, create_graph=True)[0]", "u.sum(), [points, other], create_graph=True)[0]")
ALLOWED = ("create_graph=True)", "create_graph=True, allow_unused=True, materialize_grads=True)")


class TrainsNothing(Property):
    name, former = "trains-nothing", "unused"
    runs = ("letter",)
    sentence = "this derivative is zero: its output is not made of anything that the derivative is asked for"
    raises = (Example(SLICED, *ALLOWED),)
    silent = (Example(BESIDE_OTHERS, *ALLOWED),)

    def find(self, evidence: Evidence) -> Finding | None:
        if not evidence.assessment.effect.keeps_gradients:
            return None  # the zeros are those of the code as it stands, from which the edit departs
        zeros = (done.stack for done in evidence.letter.performed if done.kind == "nothing_used")
        return next((self.found(stack) for stack in zeros), None)
