"""A tensor is written that an object or a container holds, or that later passes are given again

## What it finds

What an attribute or a container holds (`self.features = h`, `seen.append(h)`, `x = out.states`) is written afterwards,
and the passes train on it. So it is of data that a pass is given by a name of its own, and that a later pass is given
again: an item of a list or of a data set, an attribute of one, what a function keeps, an array's memory, or a default
value. There the new values are made of the old ones, numbers, draws and what a module holds; what is made of other data
of the pass makes a state. A run in which the write goes to a copy trains otherwise, in the steps compared or behind
them. It is not said where another name of the same tensor tells it.

## Why it matters

The holder shows the write: states that a list has collected are wiped there, too, and the second epoch begins with
data that the first one has changed. A copy (`.clone()`, or a new tensor instead of the write) keeps both.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property
from autofix.verdict.shared import other_names

STANDING = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 4), nn.Linear(3, 4)
        self.scale = torch.rand(3)

    def forward(self, x, y=None):
        seen = self.one(x)
        WRITE
        return seen + self.two(x)


def taken(i):
    return rows[i]


array = torch.rand(3, 6, 3).numpy()
rows = [torch.rand(6, 3) for _ in range(3)]
records = [{"x": one, "y": torch.rand(6, 3)} for one in rows]
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(EPOCHS):
    for i, record in enumerate(records):
        loss = (net(GIVEN) - 1).square().mean()
        train: loss
"""
KEPT = ("self.one(x)", "self.one(x.clone())")


def _standing(given: str, write: str = "x *= self.scale", epochs: int = 3) -> str:
    return STANDING.replace("GIVEN", given).replace("WRITE", write).replace("EPOCHS", str(epochs))


HELD = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.gate = nn.Linear(3, 4), nn.Linear(4, 3), nn.Linear(4, 4)
        self.seen = None

    def forward(self, x):
        h = torch.tanh(self.one(x))
        kept = {"h": h}
        STORE
        weight = self.gate(h).tanh()
        WRITE
        return self.two(weight * h), kept


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    out, kept = net(torch.randn(6, 3))
    loss = (out - 1).square().mean() + READ
    train: loss
"""
GATED = ("self.gate(h)", "self.gate(h.clone())"), ("self.one(x))", "self.one(x)).clone()")


def _held(store: str, write: str, read: str) -> Example:
    text = HELD.replace("STORE", store).replace("WRITE", write).replace("READ", read)
    return Example(text, text, text.replace(*GATED[0]).replace(*GATED[1]))


ATTRIBUTE = ("self.seen = h", "h[:, 0] = 0", "net.seen.square().mean()")
ITEM = ('h = kept["h"]', "h.mul_(0.5)", "kept['h'].square().mean()")
LONG = _standing("taken(i)").replace("range(3)", "range(45)")
WIPED = """\
cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
for x in torch.randn(4, 5, 6, 3):
    h, states = torch.zeros(6, 4), []
    for row in x:
        h = cell(row, h)
        states.append(h)
        h[row[:, 0] > 1] = 0.0
    loss = (head(torch.stack(states)) - 1).square().mean()
    train: loss
"""
_PUT, _WRITE = "        states.append(h)\n", "        h[row[:, 0] > 1] = 0.0\n"
WIPED_FIRST = WIPED.replace(_PUT + _WRITE, _WRITE + _PUT)


class HeldTensorIsWritten(Property):
    change = "copied"
    sentence = (
        "{subject} is the same tensor as {other}, which this line writes, and is read again later; it may be meant to "
        "keep its value"
    )
    raises = (
        _held(*ATTRIBUTE),
        _held(*ITEM),
        _held("self.seen = h = h + 0.1", "h = F.threshold(h, 0.5, 0, inplace=True)", "net.seen.square().mean()"),
        _held('kept["all"] = []\n        kept["all"].append(h)', "h.mul_(0.5)", "kept['all'][0].square().mean()"),
        Example(WIPED, "states.append(h)\n", "h = h.clone()\n        states.append(h)\n"),
        Example(_standing("taken(i)"), *KEPT),
        Example(LONG, *KEPT),
        Example(_standing("taken(i)", "spread = x.std(0)\n        x.sub_(x.mean(0)).div_(spread)"), *KEPT),
        Example(_standing("record['x']", "x += 0.1 * torch.randn_like(x)"), *KEPT),
        Example(_standing("torch.from_numpy(array[i])", "x[:, 0] = 0"), *KEPT),
        Example(_standing("").replace("(self, x, y=None)", "(self, x=torch.rand(6, 3))"), *KEPT),
    )
    silent = (
        Example(WIPED_FIRST, "cell(row, h)", "cell(row, h).clone()"),
        _held("self.seen = h", "h[:, 0] = 0", "0"),
        _held("self.seen = h.clone()", "h = F.threshold(h, 0.5, 0, inplace=True)", "net.seen.square().mean()"),
        _held("self.seen = h.clone()", "h[:, 0] = 0", "net.seen.square().mean()"),
        Example(_held(*ATTRIBUTE).text, "h[:, 0] = 0", "h = h.clone()\n        h[:, 0] = 0"),
        _held('h = kept["h"].clone()', "h.mul_(0.5)", "kept['h'].square().mean()"),
        Example(_standing("taken(i)"), "x *= self.scale", "x = x * self.scale"),
        Example(_standing("taken(i)", epochs=1), *KEPT),
        Example(_standing("taken(i).clone()"), *KEPT),
        Example(_standing("torch.tensor(array[i])"), *KEPT),
        Example(_standing("record['x'], record['y']", "x.mul_(0.9).add_(y)"), *KEPT),
        Example(_standing("taken(i), rows[i - 1]", "x += self.two(y).mean().detach()"), *KEPT),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        named = other_names.by_holder(evidence)
        told = (other_names.by_write, other_names.lasting, other_names.of_leaf)
        if not named[0] or any(other_names.shows(evidence, one(evidence)) for one in told):
            return None
        return self.found(named[1], **other_names.words(evidence, *named))
