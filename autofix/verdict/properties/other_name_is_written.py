"""A tensor is written by a second name

## What it finds

A name was given to what another name stands for (`masked = scores`), the new one was written by (`masked[:, :2] = 0`,
`masked.mul_(2)`), and the old one is read afterwards, or what a caller handed over for it. So it is of two parts that
overlap (`now, after = values[:-1], values[1:]`, then `after[done] = 0`), where nothing reads the whole afterwards; and
of data of which each turn hands a slice to a function that writes to it (`net(data[i : i + 16])`).

A run in which the write goes to a copy trains otherwise; or a condition decides whether a pass reads the older name
(`if better: return x`, then `return before`); and the edit keeps the write as it is. This is not said of what is read
by the new name alone, nor of a tensor that began empty and is handed to a function that fills it. Where the write shows
in nothing but what is printed, it is said of an edit that prints what the code prints.

## Why it matters

Both names are one tensor, so the old one shows the write, too. Who gives a tensor a second name before writing mostly
means a copy; `.clone()` makes one. A helper that normalises what it is given, for one loss, changes what the other loss
compares.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property
from autofix.verdict.shared import other_names

BLOCK = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    gate = torch.sigmoid(net(torch.randn(6, 3)))
    masked = gate
    masked[:, :2] = 0.5
    loss = (head(masked) * READ).square().mean()
    train: loss
"""
HELPED = (
    BLOCK.replace("READ", "gate")
    .replace("    masked = gate\n    masked[:, :2] = 0.5", "    masked = halved(gate)")
    .replace("for _", "def halved(x):\n    out = x\n    out[:, :2] = 0.5\n    return out\n\n\nfor _", 1)
)
BEFORE = HELPED.replace("    masked =", "    whole = gate\n    masked =").replace("* gate", "* whole")
PRINTED = f"{BLOCK.replace('READ', 'masked')}    print(float(gate.mean()))\n"
SPARED = ("torch.sigmoid(net(torch.randn(6, 3)))", "torch.sigmoid(net(torch.randn(6, 3))).clone()")
STACKED = """\
class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        out = 0
        for layer in (self.one, self.two):
            seen = layer(x).tanh()
            x -= seen.detach()
            out = out + seen.mean(1)
        return out


net, data = Stack(), torch.rand(8, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(0, 8, 4):
        out = net(data[i : i + 4])
        loss = (out - 1).square().mean()
        train: loss
"""
LAYERED = ("layer(x)", "layer(x.clone())")
PASSED_ON = """\
def normalised(x):
    x.sub_(0.5).div_(0.2)
    return x


def score(x):
    x = normalised(x)
    return x.tanh().square().mean()


torch.manual_seed(0)
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    image = torch.sigmoid(net(torch.randn(6, 3)))
    seen = score(image)
    loss = seen + (image - 0.3).abs().mean()
    train: loss
"""
VALUES = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    values = torch.sigmoid(net(torch.randn(6, 3))).squeeze(1)
    now, after = values[:-1], values[1:]
    after[torch.tensor([1, 3])] = 0.0
    loss = (0.5 + 0.9 * after.detach() - now).square().mean()
    train: loss
"""
CLONED = (
    "torch.sigmoid(net(torch.randn(6, 3))).squeeze(1)",
    "torch.sigmoid(net(torch.randn(6, 3))).squeeze(1).clone()",
)
FILLED = """\
def attend(x, cache, at):
    cache[:, at] = k(x)
    return torch.softmax(torch.einsum("bd,btd->bt", q(x), cache), -1)


torch.manual_seed(0)
q, k = nn.Linear(3, 4), nn.Linear(3, 4)
optimizer = torch.optim.SGD([*q.parameters(), *k.parameters()], lr=0.1)
for _ in range(4):
    x = torch.randn(5, 2, 3)
    cache = torch.zeros(5, 2, 4)
    first = attend(x[:, 0], cache, 0)
    second = attend(x[:, 1], cache, 1)
    loss = (first + second).square().mean() + cache.square().mean()
    train: loss
"""
VIEWS = """\
def without(x):
    at = torch.randint(3, ()).item()
    x[:, at] = 0
    return x


def score(x):
    return head(x).square().mean()


net, head = nn.Linear(4, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    h = net(torch.randn(6, 4))
    whole = score(h)
    views = [score(without(h)) for _ in range(2)]
    loss = whole + (views[0] - 1).square() + sum(views)
    train: loss
"""
ROUNDS = """\
    views = []
    for _ in range(2):
        h = net(torch.randn(6, 4))
        views.append(score(h) + score(without(h)))
"""
IN_SCORE = ("head(x)", "head(x.clone())")
RESIDUAL = """\
def rest(x):
    x -= torch.tanh(net(x))
    return x


torch.manual_seed(0)
net = nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    seen = torch.randn(6, 3)
    loss = rest(seen).square().mean()
    train: loss
    print(seen.mean().item())
"""


class OtherNameIsWritten(Property):
    change = "copied"
    sentence = (
        "{subject} is the same tensor as {other}, which this line writes, and is read afterwards; it may be meant to "
        "keep its value"
    )
    raises = (
        Example(BEFORE, *SPARED),
        Example(STACKED, *LAYERED),
        Example(BLOCK.replace("READ", "gate"), *SPARED),
        Example(BLOCK.replace("READ", "gate").replace("masked[:, :2] = 0.5", "masked.clamp_(max=0.5)"), *SPARED),
        Example(HELPED, *SPARED),
        Example(VIEWS, *IN_SCORE),
        Example(PRINTED, *SPARED),
        Example(PASSED_ON, *SPARED),
        Example(VALUES, *CLONED),
        Example(RESIDUAL, "net(x)", "net(x.clone())"),
    )
    silent = (
        Example(BEFORE.replace("* whole", "* masked"), *SPARED),
        Example(STACKED, "x -= seen.detach()", "x = x - seen.detach()"),
        Example(STACKED.replace("net(data[i", "net(torch.rand(8, 4)[i"), *LAYERED),
        Example(STACKED.replace("net(data[i : i + 4])", "net(data[[i, i + 1]])"), *LAYERED),
        Example(VIEWS.replace("for _ in range(2)", "for _ in range(1)"), *IN_SCORE),
        Example(VIEWS.replace("    views = [score(without(h)) for _ in range(2)]\n", ROUNDS), *IN_SCORE),
        Example(RESIDUAL, "x -= torch.tanh(net(x))", "x = x - torch.tanh(net(x))"),
        Example(RESIDUAL.replace("print(seen", "print(loss"), "net(x)", "net(x.clone())"),
        Example(BLOCK.replace("READ", "masked"), *SPARED),
        Example(BLOCK.replace("READ", "len(gate)"), *SPARED),
        Example(PRINTED, "masked = gate", "masked = gate.clone()"),
        Example(HELPED.replace("* gate", "* masked"), *SPARED),
        Example(PASSED_ON.replace("image - 0.3", "seen - 0.3"), *SPARED),
        Example(
            PASSED_ON.replace("x = normalised(x)", "normalised(x)")
            .replace("seen = score(image)", "score(image)")
            .replace("loss = seen +", "loss ="),
            *SPARED,
        ),
        Example(
            PASSED_ON.replace("seen = score(image)", "image = normalised(image)\n    seen = image.mean()"), *SPARED
        ),
        Example(VALUES.replace("- now)", "- values[:-1])"), *CLONED),
        Example(
            VALUES.replace("values[:-1], values[1:]", "values[:3], values[3:]")
            .replace("[1, 3]", "[1]")
            .replace("after.detach() - now", "after.detach() - now + after"),
            *CLONED,
        ),
        Example(VALUES.replace("- now)", "- after)"), *CLONED),
        Example(FILLED, "q(x), cache)", "q(x), cache.clone())"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        named = other_names.by_write(evidence)
        if other_names.shows(evidence, named) or (named[0] and _prints_otherwise(evidence)):
            return self.found(named[1], **other_names.words(evidence, *named))
        return None


def _prints_otherwise(evidence: Evidence) -> bool:
    """Whether the write shows in what is printed alone, also where it is the whole that is written."""
    return other_names.prints_otherwise(evidence, evidence.old_values)
