"""Gradients that are put to zero between the backward and the step that should use them.

## What it does
Finds `zero_grad()` after a `backward()` and before the `step()` of the same optimizer, in one straight run of
statements.

## Why it matters
The step sees no gradients and leaves the parameters as they are, or moves them by momentum alone. Nothing fails; the
loss just never falls.

## What it cannot tell
It stays silent where any call between the two might compute new gradients.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.check.finder import Finder, Spot, backwards, cleared_for, examples, steps
from autofix.syntax.facts import Scope


class ZeroedBeforeStep(Finder):
    code, name = "AG502", "zeroed-before-step"
    title = "zero_grad() between backward() and step()"
    words = (b"backward", b".step(", b"zero_grad")
    finds, passes = examples("""\
!
model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.randn(4, 2)).mean()
    loss.backward()
    opt.zero_grad()  # found
    opt.step()
!
def train(opt, losses):
    losses[0].backward()
    train: losses[1]
!
def train(opt, loss, total):
    loss.backward()
    opt.zero_grad()
    total()
    opt.step()
!
def train(opt, loss, weights, kept):
    loss.backward()
    opt.zero_grad()
    for w, g in zip(weights, kept):
        w.grad = g
    opt.step()
!
def train(opt, scaler, loss):
    scaler.scale(loss).backward()
    scaler.step(opt)
    opt.zero_grad()
    opt.step()
""")

    def spots(self, scope: Scope) -> Iterator[Spot]:
        for step in steps(scope):
            zero = cleared_for(scope, step)
            if zero is None:
                continue
            earlier = [call for call in scope.calls.get("step", ()) if call.order < zero.order]
            mine = [call.order for call in earlier if step.receiver in {call.receiver, *scope.used(call)}]
            last = max(mine, default=-1)
            if any(call.block is step.block and last < call.order < zero.order for call in backwards(scope)):
                message = (
                    f"the gradients are zeroed after backward and before {step.receiver}.step(), which then has none"
                )
                yield Spot(zero.node, message)
