"""What was switched off is trained

## What it finds

A derivative or a backward fails since the script has gradients off around it, or around all that its loss is made of.
The edit switches them on for more than that call needs: another loss then goes on into what was data to it, a sampler,
an encoder, a weight of its terms, and trains it. This is not said where that loss needs it, as a term of it or a
parameter that an optimizer owns gets no gradient otherwise; nor where it takes the very value that the failing loss
takes, and not as a weight.

## Why it matters

Nothing shows it. The author switched gradients off there; only the one call was to have them. Switch them on around
what that call needs, or detach what leaves the block. A loss that trains its own weights also falls as they get small.
"""

from __future__ import annotations

from autofix.verdict.property import Effect, Evidence, Example, Finding, Property
from autofix.verdict.shared import lifted

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
BESIDE = """\
net, other = nn.Linear(3, 4), nn.Linear(3, 4)
optimizer = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    with torch.no_grad():
        z = net(x)
        weight = z.mean(1).sigmoid()
    optimizer.zero_grad()
    ((other(x) - 1).square().mean(1) * WEIGHT).sum().backward(retain_graph=True)
    z.square().mean().backward()
    optimizer.step()
"""
LIFTED = ("torch.no_grad()", "torch.enable_grad()")


class SwitchedOffIsTrained(Property):
    sentence = "the edit switches gradients on for more than the failing call needs: {subject}"
    raises = (
        Example(GUIDED.replace("LOSS", TRAINED), *OFF),
        Example(GUIDED.replace("LOSS", TRAINED).replace("model(x)", "(x + model(x))"), *OFF),
        Example(BESIDE.replace("WEIGHT", "weight"), *LIFTED),
        Example(BESIDE.replace("WEIGHT", "z.exp()[:, 0]"), *LIFTED),
        Example(BESIDE.replace("WEIGHT", "weight").replace("z.square()", "(z * weight[:, None])"), *LIFTED),
        Example(BESIDE.replace("WEIGHT", "(weight - other(x).mean(1)).tanh()"), *LIFTED),
    )
    silent = (
        Example(GUIDED.replace("LOSS", TRAINED), *WITHIN),
        Example(GUIDED.replace("LOSS", "(sample() - 1).square().mean()"), *OFF),
        Example(GUIDED.replace("LOSS", TRAINED + " + sample().square().mean()"), *OFF),
        Example(BESIDE.replace("WEIGHT", "weight.detach()"), *LIFTED),
        Example(BESIDE.replace("WEIGHT", "(z[:, 0] + other(x).mean(1)).sigmoid()"), *LIFTED),
        Example(BESIDE.replace("WEIGHT", "net(x.abs())[:, 0]"), *LIFTED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if evidence.reading.off or evidence.assessment.effect is Effect.MEANT:
            return None
        found = lifted.inside(evidence) or lifted.beside(evidence)
        if not found or not lifted.trains_more(evidence):
            return None
        return self.found(evidence.failure.stack, subject=lifted.said(found[0]))
