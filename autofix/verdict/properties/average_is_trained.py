"""A pass trains through an average that it keeps up

## What it finds

A value that is handed on is a sum: what the pass before left, times a constant, and something of this pass. The pass
also uses the sum in its loss, and would train all that it trains without it: a codebook that follows its encoder by a
moving average, prototypes averaged class by class, a running mean that features are centred by, a baseline. The edit
cuts what flowed into earlier passes, and each pass still trains through the part that it adds. A state that something
learned computes from the one before is no such sum, nor is a memory that nothing but its own pass trains. A sum that is
only added to the loss, as a penalty that layers add up, or taken from it, as an entropy, is a term of it: as a constant
it would be there for nothing.

## Why it matters

Averages are mostly meant as constants: as buffers, they are kept up without gradient. But a network may also be meant
to learn by the little that it moves its average. The code does not say.
"""

from __future__ import annotations

from autofix.verdict.left_open.averages import constant_averages
from autofix.verdict.property import Evidence, Example, Finding, Property

CENTRED = """\
encoder, head = nn.Linear(4, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.05)
mean = torch.zeros(3)
for _ in range(6):
    z = torch.tanh(encoder(torch.randn(8, 4)))
    mean = 0.9 * mean + 0.1 * z.mean(0)
    loss = (head(z - mean) - 1).square().mean()
    train: loss
"""
CUT = ("0.9 * mean", "0.9 * mean.detach()")
BY_PARTS = CENTRED.replace("torch.zeros(3)", "torch.zeros(2, 3)").replace(
    "mean = 0.9 * mean + 0.1 * z.mean(0)",
    """for c in range(2):
        mean[c] = 0.9 * mean[c] + 0.1 * z[c::2].mean(0)
    mean = nn.functional.normalize(mean, dim=-1)""",
).replace("z - mean)", "z - mean[0])")  # fmt: skip
OVERWRITTEN = BY_PARTS.replace("0.9 * mean[c] + 0.1 * ", "")
KEPT = ("    optimizer.step()\n", "    optimizer.step()\n    mean = mean.detach()\n")
KEPT_ENTROPY = KEPT[0], KEPT[1].replace("mean", "entropy")
ADDED = CENTRED.replace("z - mean", "z").replace(".square().mean()", ".square().mean() + mean.sum() / 4")
ENTROPY = """\
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
entropy = 0
for _ in range(6):
    for x in torch.randn(2, 8, 4):
        guess = net(x).log_softmax(1)
        entropy = entropy - (guess.exp() * guess).sum(1).mean() / 2
    loss = LOSS
    train: loss
"""
TERM = ENTROPY.replace("LOSS", "F.nll_loss(guess, torch.randint(0, 3, (8,))) - 0.1 * entropy")
OWN = """\
net, before = nn.Linear(4, 3), 0.0
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(6):
    error = (net(torch.randn(8, 4)) - 1).square().mean()
    before = 0.9 * before + 0.1 * error
    train: (error - 0.5 * before)
"""
BASELINE = ENTROPY.replace("LOSS", "(guess[:, 0] - entropy).mean()")
WEIGHT = ENTROPY.replace("LOSS", "(F.nll_loss(guess, torch.randint(0, 3, (8,))) - 0.1 * entropy).square()")
BEGUN = "    for x in torch", "    entropy = 0\n    for x in torch"
TAKEN = CENTRED.replace(".square().mean()", ".square().mean() + ((z - mean) * torch.ones(3)).mean()").replace(
    "head(z - mean)", "head(z)"
)
ALONE = CENTRED.replace("head(z - mean)", "head(mean)")


class AverageIsTrained(Property):
    sentence = "the loss also trains what its own iteration adds to an average; the average may be meant as a constant"
    raises = (
        Example(CENTRED, *CUT),
        Example(BY_PARTS, *KEPT),
        Example(TAKEN, *CUT),
        Example(BASELINE, *KEPT_ENTROPY),
        Example(OWN, "0.9 * before", "0.9 * float(before)"),
        Example(WEIGHT, *KEPT_ENTROPY),
    )
    silent = (
        Example(ALONE, *CUT),
        Example(ADDED, *CUT),
        Example(TERM, *BEGUN),
        Example(TERM, *KEPT_ENTROPY),
        Example(CENTRED, "0.1 * z.mean(0)", "0.1 * z.detach().mean(0)"),
        Example(OVERWRITTEN, *KEPT),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        said = evidence.assessment.effect.truncates and constant_averages(evidence) is not None
        return self.found(evidence.failure.stack) if said else None
