"""Random numbers that the code draws are not drawn any more

## What it finds

With the edit, a place of the code draws no random numbers: a call of a noisy layer in an evaluation takes another way,
or is gone. Nothing is drawn in its stead, and the gradients are those of the code but for newer parameters. This is not
said where the edit draws elsewhere what the code drew there, as when a forward moves, nor of what an object starts
with: where that is used, gradients show it.

## Why it matters

Where gradients are off, no gradient shows what such a call gives. A score is then one of another model, and all later
draws are others than before.
"""

from __future__ import annotations

from autofix.experiments.compare import comparable
from autofix.experiments.spec import Intervention
from autofix.verdict.property import Evidence, Example, Finding, Property, Treatment

NOISY = """\
class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.spread = nn.Parameter(torch.randn(4, 2)), nn.Parameter(torch.zeros(4, 2))

    def forward(self, x):
        return x @ (self.mean + self.spread.exp() * torch.randn(4, 2))


net = Noisy()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
prior = net.mean.square().sum()
for _ in range(5):
    x = torch.randn(6, 4)
    loss = (net(x) - 1).square().mean() + 0.01 * prior
    train: loss
    with torch.no_grad():
        print(net(x).square().mean().item())
"""
MADE = "prior = net.mean.square().sum()\n"
FORWARD = "    def forward(self, x):\n"
BY_MEAN = f"{FORWARD}        if not torch.is_grad_enabled():\n            return x @ self.mean\n"
TABLE = "class Table:\n    def __init__(self):\n        self.rows = torch.randn(3).zero_()\n\n\ntable = Table()\n"
SCORE = "print(net(x).square().mean().item())"


def _each(text: str) -> str:
    """The script in which each pass computes its prior: a right edit."""
    return text.replace(MADE, "").replace("0.01 * prior", "0.01 * net.mean.square().sum()")


class DrawIsLost(Property):
    offered = True
    sentence = (
        "the code draws random numbers in the call at {call}; the edited run draws none there, and none elsewhere "
        "instead"
    )
    raises = (
        Example(NOISY, NOISY, _each(NOISY.replace(FORWARD, BY_MEAN))),
        Example(NOISY, NOISY, _each(NOISY.replace(SCORE, SCORE.replace("net(x)", "(x @ net.mean)")))),
    )
    silent = (
        Example(NOISY, NOISY, _each(NOISY)),
        Example(NOISY, NOISY, _each(NOISY.replace(SCORE, f"score = {SCORE[6:-1]}\n        print(score)"))),
        Example(NOISY, NOISY, _each(NOISY.replace("torch.randn(4, 2))\n\n\n", "torch.randn((4, 2)))\n\n\n"))),
        Example(NOISY.replace(FORWARD, BY_MEAN), MADE, f"{MADE}prior.detach_()\n"),
        Example(TABLE + NOISY, TABLE + NOISY, _each(TABLE.replace("torch.randn(3).zero_()", "torch.zeros(3)") + NOISY)),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        for how in (Intervention.NONE, Intervention.WHOLE):  # of a slow script the first may end before the other
            code, edited = evidence.of(evidence.reading, Treatment.FROZEN, how), evidence.of_edit(Treatment.FROZEN, how)
            before, after = (
                {site for site in (*run.drawn_at, *run.dropped_at) if ".__init__:" not in site}
                for run in (code, edited)
            )
            if comparable(code) or after - before or not before - after:
                return None
            if (code.outcome, len(code.steps)) == (edited.outcome, len(edited.steps)):
                break
        else:
            return None
        file, _, line = min(before - after).split("|")[-1].split(":")
        return self.found(call=f"{file}:{line}")
