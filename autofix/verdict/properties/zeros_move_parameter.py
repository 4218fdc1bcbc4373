"""A step moves a parameter by zeros that stand for no gradient

## What it finds

A derivative is asked for by a tensor that its outputs are not made of, and torch refuses. With the edit there are zeros
in its place, which the program gives a parameter as its gradient, and a step of the optimizer moves that parameter all
the same: by weight decay, or by what it keeps of earlier steps. This is not said where such a step leaves the parameter
as it is.

## Why it matters

`backward` leaves `None` for a parameter that a loss does not depend on, and an optimizer passes it over. With zeros, a
coefficient that only a later phase trains decays until then. The code does not say which of the two is meant.
"""

from __future__ import annotations

from autofix.experiments.sketches import norm
from autofix.verdict.property import Evidence, Example, Finding, Property

PHASES = """\
net, weight = nn.Linear(3, 1), nn.Parameter(torch.ones(1))
owned = [*net.parameters(), weight]
optimizer = torch.optim.AdamW(owned, lr=0.1)
for step in range(8):
    x = torch.randn(6, 3)
    loss = (net(x) - 1).square().mean()
    if step > 3:
        loss = loss + (weight * net(x) - x[:, :1]).square().mean()
    for one, gradient in zip(owned, torch.autograd.grad(loss, owned)):
        one.grad = gradient
    optimizer.step()
"""
PLAIN = PHASES.replace("AdamW", "Adam")
IN_TURN = PHASES.replace("AdamW(owned, lr=0.1)", "SGD(owned, lr=0.1, momentum=0.9)").replace(
    "step > 3", "step % 2 == 0"
)
WITHOUT = IN_TURN.replace(", momentum=0.9", "")
ZEROS = "grad(loss, owned)", "grad(loss, owned, materialize_grads=True)"


class ZerosMoveParameter(Property):
    sentence = (
        "{subject} has no gradient here, and the edit gives it zeros: the step moves it all the same, where it would "
        "pass over a gradient that is None"
    )
    raises = (Example(PHASES, *ZEROS), Example(IN_TURN, *ZEROS))
    silent = (Example(PLAIN, *ZEROS), Example(WITHOUT, *ZEROS))

    def find(self, evidence: Evidence) -> Finding | None:
        live = evidence.edited
        refused = [one.stack for one in evidence.letter.performed if one.kind == "unused_input"]
        for step in live.steps if refused else ():
            for at, (gradient, change) in enumerate(zip(step.gradients, step.changes, strict=False)):
                if gradient and not norm(gradient) and norm(change):
                    return self.found(refused[0], subject=live.parameters(step.optimizer)[at])
        return None
