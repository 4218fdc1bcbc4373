"""What is kept of a gradient is written by the next backward

## What it finds

The script keeps a gradient (`velocity = p.grad`), a later backward call adds to the same memory, and the script then
reads what it kept. The edit keeps that. What is asked for anew in each pass is no such case, nor is a copy, nor a
gradient that was set to None before, nor one that the backward does not reach.

## Why it matters

What was kept is zero by then, or the new gradient: a momentum of the gradient with itself, a difference that is
always 0. It needs a copy (`p.grad.clone()`).
"""

from autofix.verdict.property import Example, OfTheCode

MOMENTUM = """\
w, velocity = torch.randn(3, requires_grad=True), None
for _ in range(5):
    y = torch.sigmoid(torch.randn(6, 3) @ w)
    y *= 2
    (y - 1.2).square().mean().backward()
    with torch.no_grad():
        velocity = KEPT if velocity is None else 0.9 * velocity + w.grad
        w -= 0.5 * velocity
        w.grad.zero_()
"""
OUT_OF_PLACE = ("y *= 2", "y = y * 2")
ANEW = MOMENTUM.replace(
    "velocity = KEPT if velocity is None else 0.9 * velocity + w.grad", "kept = w.grad; velocity = kept / kept.norm()"
)
OTHERS = """\
import copy

net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def gradients():
    mine = copy.deepcopy(net)
    y = torch.sigmoid(mine(torch.randn(6, 3)))
    y *= 2
    (y - 1.2).square().mean().backward()
    return [p.grad for p in mine.parameters()]


for _ in range(5):
    for p, first, second in zip(net.parameters(), gradients(), gradients()):
        p.grad = (first + second) / 2
    opt.step()
"""


class GradientKeptIsWritten(OfTheCode):
    fact = "old-gradient-read"
    sentence = (
        "what is read here was kept of a gradient, and a later backward has overwritten it: keep a copy (clone())"
    )
    raises = (Example(MOMENTUM.replace("KEPT", "w.grad"), *OUT_OF_PLACE),)
    silent = (
        Example(MOMENTUM.replace("KEPT", "w.grad.clone()"), *OUT_OF_PLACE),
        Example(MOMENTUM.replace("KEPT", "w.grad").replace("w.grad.zero_()", "w.grad = None"), *OUT_OF_PLACE),
        Example(ANEW, *OUT_OF_PLACE),
        Example(OTHERS, *OUT_OF_PLACE),
    )
