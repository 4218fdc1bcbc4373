"""A weight is scaled by its own size before its step

## What it finds

Behind a backward, and before the step that uses its gradient, the code scales a parameter by a number that is made of
this parameter, alone or with others that wait for their step: `p.mul_(bound / p.norm())`, or the norm of them all. The
edit keeps the write. It is not said behind the step, as of a bound for the weights, nor of a factor that is made of
nothing learned, as a decay, or of what waits for no step.

## Why it matters

What is clipped between a backward and a step is mostly the gradient: `p.grad.mul_(bound / p.grad.norm())`. A weight
that is scaled there runs against its training, and its gradient is that of another weight.
"""

from __future__ import annotations

from autofix.verdict.property import Example, OfTheCode

CLIPPED = """\
def clip(parameters, bound):
    for p in parameters:
        size = p.norm()
        if size > bound:
            p.mul_(bound / (size + 1e-6))


net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(5, 6, 4):
    loss = (net(x) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    clip(net.parameters(), 0.1)
    optimizer.step()
"""
STEP, CLIP = "    optimizer.step()\n", "    clip(net.parameters(), 0.1)\n"
BEHIND = CLIPPED.replace(f"{CLIP}{STEP}", f"{STEP}{CLIP}")
DECAYED = CLIPPED.replace("bound / (size + 1e-6)", "1 - 0.1 * bound")
DIVIDED = CLIPPED.replace("p.mul_(bound / (size + 1e-6))", "p /= size / bound")
BY_ALL = """\
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(5, 6, 4):
    loss = (net(x) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    total = torch.stack([p.norm() for p in net.parameters()]).norm()
    for p in net.parameters():
        p.mul_((0.1 / (total + 1e-6)).clamp(max=1))
    optimizer.step()
"""
WITHOUT = "    clip(net", "    with torch.no_grad(): clip(net"
DATA = "p.mul_(", "p.data.mul_("


class WeightIsClipped(OfTheCode):
    fact = "scaled-by-itself"
    sentence = (
        "{subject} is scaled by its own size between its backward and its step; it may be meant to be its gradient, "
        "as where gradients are clipped"
    )
    raises = (Example(CLIPPED, *WITHOUT), Example(CLIPPED, *DATA), Example(DIVIDED, *WITHOUT), Example(BY_ALL, *DATA))
    silent = (
        Example(BEHIND, *WITHOUT),
        Example(BEHIND, *DATA),
        Example(DECAYED, *WITHOUT),
        Example(BY_ALL.replace("stack([p", "stack([p.detach()"), *DATA),
        Example(CLIPPED, CLIP, "    nn.utils.clip_grad_norm_(net.parameters(), 0.1)\n"),
    )
