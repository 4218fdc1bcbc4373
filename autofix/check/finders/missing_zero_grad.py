"""Gradients that no one puts to zero between two steps.

## What it does
Finds a loop in which a loss runs backward and a torch optimizer steps, where the gradients of that optimizer's
parameters are never put to zero, or only outside of the loop.

## Why it matters
`backward()` adds to the gradients that are there. Each step then uses the sum over all iterations so far: nothing
fails, and training slowly goes wrong.

## What it cannot tell
It stays silent where the optimizer comes from elsewhere, where anything in the file that it cannot match with the
optimizer puts gradients to zero, and where the optimizer is handed to another function in the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.check.finder import Finder, Spot, backwards, examples, is_optimizer, owners, steps
from autofix.syntax.facts import Block, Call, Scope

# Other ways to be rid of old gradients; who knows what they act on.
_OTHER_WAYS = (b".grad = None", b".grad=None", b"grad.zero_", b"grad.data.zero_", b"set_to_none", b"reset_grad",
               b"grad.fill_", b"clear_grad", b"zero_gradients", b"zero_grads", b".grad *=", b".grad.mul_",
               b"grad.data.fill_", b"deepspeed", b"accelerator", b"setattr")  # fmt: skip


class MissingZeroGrad(Finder):
    code, name = "AG501", "missing-zero-grad"
    title = "No zero_grad() in a loop that steps"
    words = (b"backward", b".step(", b"optim")
    finds, passes = examples("""\
model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
!
for _ in range(3):
    loss = model(torch.randn(4, 2)).mean()
    loss.backward()
    opt.step()  # found
!
def train(batches):
    model = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        opt.zero_grad()
        for x in batches:
            model(x).mean().backward()
            opt.step()  # found
!
for x in torch.randn(5, 4, 2):
    opt.zero_grad
    model(x).mean().backward()
    opt.step()  # found
!
for _ in range(3):
    model.zero_grad()
    model(torch.randn(4, 2)).mean().backward()
    opt.step()
!
from helpers import clear

for _ in range(3):
    clear(opt)
    model(torch.randn(4, 2)).mean().backward()
    opt.step()
!
for epoch in range(3):
    opt.zero_grad()
    for x in torch.randn(5, 4, 2):
        model(x).mean().backward()
    opt.step()
""")

    def spots(self, scope: Scope) -> Iterator[Spot]:
        if any(way in scope.module.data for way in _OTHER_WAYS):
            return
        seen = set()
        for step in steps(scope):
            loop = step.block.innermost_loop()
            if loop is None or step.receiver in seen or not is_optimizer(scope, step.receiver):
                continue
            if _trains(scope, step, loop) and not _handed_over(scope, step, loop):
                where = _zeroed(scope, step, loop)
                if where is not None:
                    seen.add(step.receiver)
                    yield Spot(step.node, f"{step.receiver} steps in a loop {where}, so gradients add up")


def _trains(scope: Scope, step: Call, loop: Block) -> bool:
    """Whether a loss runs backward in each pass of the loop, before the step, for an optimizer made outside of it."""
    made_inside = any(bind.block.inside(loop) for bind in scope.binds.get(step.receiver, ()))
    runs = any(call.block.always_runs_in(loop) and call.order < step.order for call in backwards(scope))
    return runs and step.block is loop and not made_inside


def _handed_over(scope: Scope, step: Call, loop: Block) -> bool:
    """Whether something that is not read here is given the optimizer or its networks."""
    return any(
        step.receiver in scope.used(call) for calls in scope.calls.values() for call in calls if call.block.inside(loop)
    )


def _zeroed(scope: Scope, step: Call, loop: Block) -> str | None:
    """Where the gradients are zeroed, in words; None where that may be in the loop."""
    mine = {step.receiver, *_networks(scope, step.receiver)}
    named = scope.loads.count(f"{step.receiver}.zero_grad")
    outside = False
    for other in scope.module.scopes:
        for call in (*other.calls.get("zero_grad", ()), *other.calls.get("zero_", ())):
            if call.receiver in mine and other is scope and not call.block.inside(loop):
                outside = outside or any(block.loop for block in call.block.chain())
                continue
            theirs = _networks(other, call.receiver)
            if not theirs or not len(mine) > 1 or theirs & mine:
                return None
    if named > sum(call.receiver == step.receiver for call in scope.calls.get("zero_grad", ())):
        return "that names zero_grad without calling it"
    return "that only zeroes its gradients outside" if outside else "that never zeroes its gradients"


def _networks(scope: Scope, optimizer: str) -> set[str]:
    if not is_optimizer(scope, optimizer):
        return set()
    return {name for bind in scope.origins(optimizer) for name in owners(bind.value)}
