"""A gradient is sent on once

## What it says

The code as written breaks it where a backward call goes through a tensor to what that is made of, and a later one
starts from the same tensor, with the gradient that the first one left there: what is behind the tensor gets the same
gradient twice, by one step. So it is in split learning, in pipelines and in two-stage models that hand over the tensor
itself: each part was to be trained by its own call, and the tensor to be a leaf to the part that takes it.

## Where it is silent

Where the gradient of the first call is gone before the step, so that it counts once; where another gradient is given,
as with noise or a weight; where it is the same in all its elements, which may be chance; where the first call ended at
the tensor (`inputs=`, `autograd.grad`).
"""

from __future__ import annotations

from autofix.experiments.compare import comparable
from autofix.verdict.law import PASSES, KeptByChange, Runs, at


class AGradientIsSentOnOnce(KeptByChange):
    clause = "each gradient goes on from that tensor once"
    change = "sent_once"

    def seen(self, runs: Runs) -> str:
        sent = runs.letter.seen("gradient-sent-twice")
        if not sent or comparable(once := runs.of(self.changed(runs.code))):
            return ""
        if sum(int(fact.subject) for fact in once.seen("sent-once")) < PASSES:
            return ""
        return (
            f"the backward at {at(sent[0].stack)} starts from a tensor with the gradient that an earlier backward left "
            "there and has already sent on, so that this gradient counts twice"
        )
