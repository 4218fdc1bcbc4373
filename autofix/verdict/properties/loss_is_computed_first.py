"""A loss that is computed before others is computed again behind their steps

## What it finds

The code computes a loss, then another one, takes a step on that, and only then goes backward through the first: its
backward fails on what the step has changed. The edit computes the first loss again behind the step, with the newer
parameters. This is not said where the losses are computed in the order in which steps are taken on them, or where a
part of the loss is only computed behind the step; nor of an edit that takes the step later instead.

## Why it matters

Who computes losses in another order than that of the steps means them with the parameters as they were: an actor's loss
by the critic from before its step. Who wants the newer ones computes the loss where it is used. To keep the old value,
let the step wait until both have gone backward.
"""

from __future__ import annotations

from autofix.core.model import Finding
from autofix.verdict.evidence import Evidence
from autofix.verdict.property import Example, Property
from autofix.verdict.runs import lines

FACT = "computed-first"
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


class LossIsComputedFirst(Property):
    name = "loss-is-computed-first"
    runs = ("edited", "letter")
    sentence = (
        "the code computes this loss before the one that is stepped on first, and the edit computes it again behind "
        "that step: its value from before may be meant"
    )
    raises = (Example(INVERTED, *ANEW),)
    silent = (
        Example(INVERTED, STEPS, LATER),
        Example(IN_ORDER, *ANEW),
        Example(IN_PART, "    loss = -value.mean()\n", "    loss = -rate(state, actor(state)).mean()\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not evidence.assessment.effect.refreshes or evidence.edited.seen(FACT):
            return None
        failed = lines(evidence.failure.stack)
        facts = (fact for fact in evidence.letter.seen(FACT) if lines(fact.stack) == failed)
        return next((self.found(fact.stack) for fact in facts), None)
