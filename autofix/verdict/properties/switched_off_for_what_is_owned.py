"""What an optimizer owns is computed without gradient

## What it finds

A tensor that torch refused was made of parameters with gradients switched off. The edit lets it pass without switching
them on, and an optimizer that steps has no gradient, in the end, for some of what it owns.

This is not said where those parameters are frozen, or where no optimizer owns them: then nobody means to train them.

## Why it matters

The layers before that place are not trained, and nothing says so any more. `inference_mode` at least is refused where
its tensors meet a graph; under `no_grad` they pass in silence.
"""

from __future__ import annotations

from autofix.experiments.readings.learning import LEAST
from autofix.verdict.property import Evidence, Example, Finding, Property

OWNED = """\
body, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    with torch.inference_mode():
        features = body(torch.randn(5, 3))
    loss = head(features).square().mean()
    train: loss
"""
PROBED = OWNED.replace("[*body.parameters(), *head.parameters()]", "head.parameters()")
ALLOWED = ("inference_mode", "no_grad")


class SwitchedOffForWhatIsOwned(Property):
    anyway = True
    sentence = "{subject}, which an optimizer owns, is used here with gradients off, and would never learn"
    raises = (Example(OWNED, *ALLOWED),)
    silent = (Example(PROBED, *ALLOWED),)

    def find(self, evidence: Evidence) -> Finding | None:
        off = [one for one in evidence.trace.origins if one.kind == "no_grad" and one.stack]
        live = evidence.edited
        if not off or evidence.failure.in_backward:
            return None
        for index, names in enumerate(live.names):
            last = evidence.later(live, index)[-LEAST:]
            used = list(zip(*(step.gradients for step in last), strict=False))
            lost = [name for name, gradients in zip(names, used, strict=False) if not any(gradients)]
            if lost:
                return self.found(off[0].stack, subject=lost[0])
        return None
