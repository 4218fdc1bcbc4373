"""One loss goes backward twice into the same step

## What it finds

Two backward calls start from the same loss, both leave gradient in one parameter, and one step uses the sum: a
criterion and its trainer both call `backward`. Derivatives by `autograd.grad`, calls with disjoint `inputs=`,
gradients that are zeroed in between, and calls that weigh the loss differently are no such case.

## Why it matters

torch refuses the second call, and `retain_graph=True` lets it run: every gradient is then twice what was meant. One
of the two calls is one too many.
"""

from __future__ import annotations

from autofix.verdict.property import Example, Seen

CRITERION = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def criterion(out):
    loss = out.square().mean()
    loss.backward()
    return loss


for _ in range(4):
    loss = criterion(net(torch.randn(5, 3)))
    {between}
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
TWICE = CRITERION.replace("{between}", "total = float(loss)")
ZEROED = CRITERION.replace("{between}", "optimizer.zero_grad()")
BY_GRAD = TWICE.replace("    loss.backward()\n    return", "    torch.autograd.grad(loss, net.bias)\n    return")
KEPT = "    loss.backward(retain_graph=True)\n    return"
DISJOINT = TWICE.replace("    loss.backward()\n    return", "    loss.backward(inputs=[net.bias])\n    return").replace(
    "    loss.backward()\n    opt", "    loss.backward(inputs=[net.weight])\n    opt"
)
EACH = TWICE.replace("out.square().mean()", "out.square()").replace("float(loss)", "loss.sum().item()")
EACH = EACH.replace("loss.backward()", "loss.backward(torch.ones_like(loss))")
TWO_LOSSES = TWICE.replace("    loss.backward()\n    opt", "    (loss + loss.sqrt()).backward()\n    opt")


class SameLossTwice(Seen):
    name, fact = "same-loss-twice", "same-loss-twice"
    sentence = "the step uses what two backward calls of one loss left in {subject}: each gradient is counted twice"
    raises = (
        Example(TWICE, "    loss.backward()\n    return", KEPT),
        Example(TWICE.replace("SGD", "Adam"), "    loss.backward()\n    return", KEPT),
        Example(EACH, "(loss))\n    return", "(loss), retain_graph=True)\n    return"),
    )
    silent = (
        Example(ZEROED, "    loss.backward()\n    return", KEPT),
        Example(DISJOINT, "inputs=[net.bias]", "inputs=[net.bias], retain_graph=True"),
        Example(BY_GRAD, "loss, net.bias", "loss, net.bias, retain_graph=True"),
        Example(TWO_LOSSES, "    loss.backward()\n    return", KEPT),
    )
