"""The gradients of a value cancel out

## What it finds

What backward found overwritten is a constant that scales a value with a graph: the running deviation that the deviation
of a batch is held against. That value is used elsewhere, too. In every pass of the edited run, the gradients that come
back from the uses of such a value are each other's opposite, but for numbers where one of them is zero. So they are for
all values that one place makes in a pass: the first step of a loop may begin with what it is held against.

## Why it matters

The value then has no part in what is trained: in a loss of `(x - mean) / std * r + d` with `r = std / kept` and
`d = (mean - kept) / kept`, the statistics of the batch are gone, and the features are those of the kept ones alone.
Nobody computes a value for that. In one of its uses it is meant as a constant, as the corrections of batch
renormalisation are, and there it is to be detached.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property

RENORMALISED = """\
net, head = nn.Linear(4, 5), nn.Linear(5, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.05)
centre, spread = torch.zeros(5), torch.ones(5)
for _ in range(5):
    x = net(torch.randn(8, 4))
    mean, std = x.mean(0), x.std(0) + 0.01
    r, d = (std / spread).clamp(0.2, 5), (mean - centre) / spread
    out = (x - mean) / std * r + d
    centre += 0.1 * (mean.detach() - centre)
    spread += 0.1 * (std.detach() - spread)
    loss = (head(out.tanh()) - 1).square().mean()
    train: loss
"""
OUT_OF_PLACE = ("spread += 0.1 * (std.detach() - spread)", "spread = spread + 0.1 * (std.detach() - spread)")
REGAINED = RENORMALISED.replace("r, d = (std / spread).clamp(0.2, 5), (mean - centre) / spread", "r = std * spread")
REGAINED = REGAINED.replace("(x - mean) / std * r + d", "(x - mean) / std * r")
"""The features as they came, at another size."""
FADING = """\
fade, head = nn.Linear(3, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*fade.parameters(), *head.parameters()], lr=0.05)
centre = torch.ones(3)
for _ in range(4):
    last, seen = centre.expand(6, 3).clone(), torch.zeros(6, 3)
    for x in torch.randn(4, 6, 3):
        rate = torch.sigmoid(fade(x))
        seen = seen + rate * last + (1 - rate) * centre
        last[x > 0] = x[x > 0]
    loss = (head(seen) - 1).square().mean()
    train: loss
"""
"""What was seen last is the centre at the first step."""


class GradientCancelsOut(Property):
    sentence = (
        "the gradients of the value that is scaled here cancel out; it may be meant as a constant in one of its uses"
    )
    last = True
    raises = (
        Example(RENORMALISED, *OUT_OF_PLACE),
        Example(RENORMALISED, "/ spread", "/ spread.clone()"),
        Example(REGAINED, *OUT_OF_PLACE),
    )
    silent = (
        Example(RENORMALISED.replace("* r + d", "+ d"), *OUT_OF_PLACE),
        Example(RENORMALISED.replace("/ std * r + d", "* r + d"), *OUT_OF_PLACE),
        Example(RENORMALISED.replace("(x - mean) / std * r + d", "x * 2 / spread + x.abs()"), *OUT_OF_PLACE),
        Example(FADING, "last[x > 0] = x[x > 0]", "last = torch.where(x > 0, x, last)"),
        Example(REGAINED.replace("std * r", "std * r.detach() + r / spread"), *OUT_OF_PLACE),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        shared = evidence.trace.seen("scales-what-is-shared")
        return self.found(shared[0].stack) if shared and evidence.edited_compared.seen("gradient-cancels") else None
