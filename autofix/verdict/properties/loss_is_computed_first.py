"""A loss that waits for the steps of others is computed again behind them

## What it finds

The code computes a loss, then another one, takes a step on that, and only then goes backward through the first: its
backward fails on what the step has changed. The edit computes the first loss again behind the step, with the newer
parameters. Or each loss of one place goes backward only passes later, while new ones join the queue, as where a
pipeline of several devices is imitated, and the edit lets none wait. This is not said where the losses are computed in
the order in which steps are taken on them, or are all collected before the first step, or where a part of the loss is
only computed behind the step; nor of an edit that takes the step later instead.

## Why it matters

Who computes losses in another order than that of the steps, or has all of them wait, means them with the parameters as
they were: an actor's loss by the critic from before its step. Who wants the newer ones computes the loss where it is
used. To keep the old value, let the step wait until both have gone backward.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property
from autofix.verdict.runs import lines

FACTS = {
    "computed-first": (
        "the code computes this loss before the step on another loss, and the edit computes it again after that step"
    ),
    "put-off": (
        "the code runs the backward of these losses some iterations after it computed them, and the edit computes them "
        "with the newer parameters"
    ),
}
"""What is seen of the code, and said of an edit with newer parameters in which it is so no more."""
ACTOR = """\
actor, critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
of_actor, of_critic = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (actor, critic))
def rate(state, action):
    return critic(torch.cat([state, action], 1))
for _ in range(4):
    state, action, reward = torch.randn(6, 4), torch.randn(6, 2), torch.randn(6, 1)
    FIRST
    SECOND
    train[of_critic]: error
    of_actor.zero_grad()
    loss.backward()
    of_actor.step()
"""
LOSS, ERROR = "loss = -rate(state, actor(state)).mean()", "error = (rate(state, action) - reward).square().mean()"
INVERTED = ACTOR.replace("FIRST", LOSS).replace("SECOND", ERROR)
IN_ORDER = ACTOR.replace("FIRST", ERROR).replace("SECOND", LOSS)
IN_PART = INVERTED.replace(LOSS, "value = rate(state, actor(state))").replace(
    "of_actor.zero_grad()", "loss = -value.mean()\n    of_actor.zero_grad()"
)
ANEW = "    of_actor.zero_grad()\n", f"    of_actor.zero_grad()\n    {LOSS}\n"
STEPS = """\
    of_critic.step()
    of_actor.zero_grad()
    loss.backward()
"""
LATER = """\
    of_actor.zero_grad()
    loss.backward(inputs=list(actor.parameters()))
    of_critic.step()
"""
PIPELINE = """\
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def error(batch):
    return (net(batch) - 1).square().mean()
waiting = []
def update():
    loss = waiting.pop(0)
    train: loss
for batch in torch.randn(8, 5, 4):
    waiting.append(error(batch))
    if len(waiting) > 2:
        update()
while waiting:
    update()
"""
AT_ONCE = "> 2", "> 0"
COLLECTED = """\
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def error(batch):
    return (net(batch) - 1).square().mean()
for tasks in torch.randn(4, 3, 5, 4):
    waiting = []
    for batch in tasks:
        waiting.append(error(batch))
    while waiting:
        loss = waiting.pop(0)
        train: loss
"""

PIPED, GATHERED = PIPELINE[PIPELINE.index("def update") :], COLLECTED[COLLECTED.index("        waiting.") :]


def _at_last(text: str) -> tuple[str, str]:
    return text, text.replace("error(batch)", "batch").replace("= waiting.pop(0)", "= error(waiting.pop(0))")


class LossIsComputedFirst(Property):
    sentence = "{subject}. The older value may be meant"
    raises = (Example(INVERTED, *ANEW), Example(PIPELINE, *AT_ONCE), Example(PIPELINE, *_at_last(PIPED)))
    silent = (
        Example(INVERTED, STEPS, LATER),
        Example(COLLECTED, *_at_last(GATHERED)),
        Example(IN_ORDER, *ANEW),
        Example(IN_PART, "    loss = -value.mean()\n", "    loss = -rate(state, actor(state)).mean()\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not evidence.assessment.refreshes:
            return None
        failed = lines(evidence.failure.stack)
        for name in (one for one in FACTS if not evidence.edited.seen(one)):
            for fact in evidence.letter.seen(name):
                if lines(fact.stack) == failed:
                    return self.found(fact.stack, subject=FACTS[name])
        return None
