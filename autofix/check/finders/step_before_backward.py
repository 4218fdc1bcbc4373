"""A step that stands before the backward whose gradients it should use.

## What it does
Finds `zero_grad()`, then `step()`, then `backward()` in one straight run of statements, with no gradient computed
between the first two.

## Why it matters
The step has nothing to use, and the next `zero_grad()` throws away what `backward()` has computed. Nothing fails and
nothing is learned.

## What it cannot tell
It stays silent where any call between `zero_grad()` and `step()` might compute gradients, and where a `backward()`
stands before both.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.check.finder import Finder, Spot, backwards, cleared_for, examples, steps
from autofix.syntax.facts import Scope


class StepBeforeBackward(Finder):
    code, name = "AG504", "step-before-backward"
    title = "step() before its backward()"
    words = (b"backward", b".step(", b"zero_grad")
    finds, passes = examples("""\
!
model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.randn(4, 2)).mean()
    opt.zero_grad()
    opt.step()  # found
    loss.backward()
!
def train(opt, losses):
    for loss in losses:
        train: loss
!
def train(opt, losses):
    for loss in losses:
        opt.step()
        opt.zero_grad()
        loss.backward()
""")

    def spots(self, scope: Scope) -> Iterator[Spot]:
        for step in steps(scope):
            zero = cleared_for(scope, step)
            if zero is None:
                continue
            calls = [call.order for call in backwards(scope) if call.block is step.block]
            if any(index > step.order for index in calls) and not any(index < zero.order for index in calls):
                yield Spot(step.node, f"{step.receiver} steps before backward has computed any gradient")
