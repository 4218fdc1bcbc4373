"""A learning rate scheduler that steps before the optimizer does.

## What it does
Finds a loop in which a scheduler of `torch.optim.lr_scheduler` steps, in each pass, before the optimizer's `step()`,
also where the optimizer steps in a function of the same file that the loop calls.

## Why it matters
Since torch 1.1 the scheduler has to step after the optimizer. In the other order the first value of the schedule is
never used, and every later one comes too early; torch only warns, once.

## What it cannot tell
It stays silent for schedulers that are not torch's, for `ReduceLROnPlateau`, and where either call is conditional.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.check.finder import Finder, Spot, examples, is_optimizer, makes_scheduler
from autofix.syntax.facts import Block, Call, Scope


class SchedulerBeforeOptimizer(Finder):
    code, name = "AG505", "scheduler-before-optimizer"
    title = "scheduler.step() before optimizer.step()"
    words = (b"lr_scheduler", b".step(", b"optim")
    finds, passes = examples("""\
from torch.optim import lr_scheduler

model = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
!
scheduler = lr_scheduler.StepLR(opt, 10)
for epoch in range(3):
    scheduler.step()  # found
    for x in torch.randn(5, 4, 2):
        train: model(x).mean()
!
scheduler = torch.optim.lr_scheduler.StepLR(opt, 10)
for epoch in range(3):
    train: model(torch.randn(4, 2)).mean()
    scheduler.step()
!
scheduler = torch.optim.lr_scheduler.StepLR(opt, 10)
for epoch in range(3):
    if epoch > 0:
        scheduler.step()
    train: model(torch.randn(4, 2)).mean()
!
scheduler = torch.optim.lr_scheduler.StepLR(opt, 10)
for _ in range(7):
    scheduler.step()
""")

    def spots(self, scope: Scope) -> Iterator[Spot]:
        updates = [call for call in _all_calls(scope) if _updates(scope, call)]
        for call in scope.calls.get("step", ()):
            origins = scope.origins(call.receiver) if call.receiver else []
            loop = call.block.innermost_loop()
            # step(epoch) says which rate is wanted: none is skipped
            if loop is None or call.block is not loop or not origins or call.node.args or call.node.keywords:
                continue
            if not all(makes_scheduler(scope, bind) for bind in origins) or _made_in(call, scope, loop):
                continue
            inside = [update for update in updates if update.block.inside(loop)]
            if any(update.order < call.order for update in updates):
                continue
            if any(update.block.always_runs_in(loop) for update in inside):
                yield Spot(
                    call.node, f"{call.receiver} steps before the optimizer, so its first learning rate is skipped"
                )


def _all_calls(scope: Scope) -> Iterator[Call]:
    for calls in scope.calls.values():
        yield from calls


def _made_in(call: Call, scope: Scope, loop: Block) -> bool:
    return any(bind.block.inside(loop) for bind in scope.binds.get(call.receiver, ()))


def _updates(scope: Scope, call: Call) -> bool:
    """Whether a call steps an optimizer, itself or in a function of this file."""
    if call.method == "step":
        return is_optimizer(scope, call.receiver)
    function = scope.module.functions.get(call.name)
    if function is None or function is scope:
        return False
    return any(_steps_something(function, inner) for inner in function.calls.get("step", ()))


def _steps_something(function: Scope, inner: Call) -> bool:
    """Whether an optimizer steps there: one that is seen to be one, or a parameter that is named as one."""
    if is_optimizer(function, inner.receiver):
        return True
    return inner.receiver in function.parameters and inner.receiver.lower().startswith("opt")
