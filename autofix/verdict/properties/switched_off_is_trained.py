"""What was switched off is trained

## What it finds

A derivative or a backward fails since the script has gradients off around it. The edit switches them on for more than
that call needs: a loss outside then goes on into what was data to it, a sampler or an encoder, and trains it. This is
not said where that loss needs it, as a term of it or a parameter that an optimizer owns gets no gradient otherwise.

## Why it matters

Nothing shows it. The author switched gradients off there; only the one call was to have them. Switch them on around
what that call needs, or detach what leaves the block.
"""

from __future__ import annotations

from autofix.core.model import Effect, Finding
from autofix.verdict.evidence import Evidence
from autofix.verdict.law import broken
from autofix.verdict.property import Example, Property

GUIDED = """\
scorer, model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def slope(x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(scorer(x).sum(), x)[0]


@torch.no_grad()
def sample():
    x = torch.randn(5, 3)
    for _ in range(2):
        x = model(x) + slope(x)
    return x


for _ in range(4):
    loss = LOSS
    train: loss
"""
TRAINED = "(model(sample() + torch.randn(5, 3)) - 1).square().mean()"
OFF = ("@torch.no_grad()", "@torch.enable_grad()")
WITHIN = ("def slope", "@torch.enable_grad()\ndef slope")


class SwitchedOffIsTrained(Property):
    name = "switched-off-is-trained"
    runs = ("letter",)
    sentence = "with the edit more gets gradients than the failing call needs: {subject}"
    raises = (
        Example(GUIDED.replace("LOSS", TRAINED), *OFF),
        Example(GUIDED.replace("LOSS", TRAINED).replace("model(x)", "(x + model(x))"), *OFF),
    )
    silent = (
        Example(GUIDED.replace("LOSS", TRAINED), *WITHIN),
        Example(GUIDED.replace("LOSS", "(sample() - 1).square().mean()"), *OFF),
        Example(GUIDED.replace("LOSS", TRAINED + " + sample().square().mean()"), *OFF),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not evidence.letter.seen("backward-while-off") or evidence.assessment.effect is Effect.MEANT:
            return None
        if not (why := broken(evidence, evidence.reading)):
            return None
        return self.found(evidence.failure.stack, subject=why)
