"""A state goes on from one batch to another that has nothing to do with it

## What it finds

The passes hand a state on that has a row for each example of a batch (the hidden state of a recurrent layer, the
potential of a spiking one), the edit cuts the graph between them and keeps the value, and the innermost loop around the
backward takes its batches in random order: a `DataLoader` with `shuffle=True`, a `randperm`, a generator that makes
one. A `shuffle=args.shuffle` may be true, too. So it is where the data were put into a random order before the loop
(`random_split`, `random.shuffle(items)`, `x = x[torch.randperm(len(x))]`), or into that of their sizes, which says that
each stands for itself (`sorted(items, key=len)`). Or each turn draws what it hands to the call that goes on from the
state: `X[order[i:j]]` of such an order, `random.choice(episodes)`, windows from places that `randint` gives. This is
read from the text, and not said

- where the batches come in their order, as the windows of one sequence do, also one that is sorted by its times;
- where a turn draws only something beside its batch: negative examples, noise, an action, also one that leads to the
  observation of the next turn;
- of what is no row of a batch, as a running mean or a memory of nodes;
- where the edit itself gives the state a start in each pass.

## Why it matters

In random order, what the state says of one batch says nothing of the next. Mostly each batch is to begin with a new
state, and the start is missing: with the graph cut, each begins with what strangers left.
"""

from __future__ import annotations

from autofix.syntax.edits.passes.shuffled import is_of_rows, shuffled
from autofix.verdict.property import Evidence, Example, Finding, OfACut

UNIT = """\
class Unit(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = nn.GRUCell(3, 4), None

    def forward(self, x):
        if self.state is None:
            self.state = torch.zeros(len(x), 4)
        for row in x.unbind(1):
            self.state = self.cell(row, self.state)
        return self.state.sum(1)


model = Unit()
x, y = torch.randn(24, 5, 3), torch.randn(24)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for part in ORDER.split(6):
    loss = (model(x[part]) - y[part]).square().mean()
    train: loss
"""
RANDOM = UNIT.replace("ORDER", "torch.randperm(24)")
LOADED = (
    UNIT.replace("x, y =", "data = torch.utils.data.TensorDataset(")
    .replace("randn(24)\n", "randn(24))\nloader = torch.utils.data.DataLoader(data, 6, shuffle=MIXED)\n")
    .replace("for part in ORDER.split(6)", "for a, b in loader")
    .replace("x[part]", "a")
    .replace("y[part]", "b")
)
FUNCTION = (
    LOADED.replace("MIXED", "True").replace("model = Unit()\n", "").partition("optimizer =")[0]
    + """\


def fit(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for a, b in batches:
        loss = (model(a) - b).square().mean()
        train: loss


fit(Unit(), loader)
"""
)
RECURRENT = """\
rnn, head = nn.GRU(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
x, hidden = torch.randn(5, 24, 3), None
for part in ORDER.split(6):
    out, hidden = rnn(x[:, part], hidden)
    loss = head(out[-1]).square().mean()
    train: loss
"""
MEAN = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, average = torch.randn(24, 3), torch.zeros(4)
for part in torch.randperm(24).split(6):
    out = net(x[part])
    average = 0.9 * average + 0.1 * out.mean(0)
    loss = (out - average).square().mean()
    train: loss
"""
TAKEN = """\
import random

rnn, head = nn.GRU(3, 4, batch_first=True), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
x, hidden = torch.randn(24, 5, 3), None
order = list(range(24))
random.shuffle(order)
whole = torch.randint(5, (6, 40, 3)).float()
others = torch.randn(9, 3)


def windows(size):
    places = torch.randint(len(whole[0]) - size, (6,))
    return torch.stack([row[place : place + size] for row, place in zip(whole, places)])


for begin in range(0, 24, 6):
    part = order[begin : begin + 6]
    given = GIVEN
    out, hidden = rnn(given, hidden)
    loss = head(out[:, -1]).square().mean()
    train: loss
"""
AVERAGED = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, average = torch.randn(24, 3), torch.zeros(())


def learn(part, average, rate=0.1):
    out = net(x[part])
    average = (1 - rate) * average + rate * out.mean()
    loss = (out - average).square().mean()
    train: loss
    return loss, average


for part in torch.randperm(24).split(6):
    loss, average = learn(part, average)
"""
ACTED = """\
import numpy as np

np.random.seed(0)
cell, head = nn.GRUCell(3, 4), nn.Linear(4, 3)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)


def move(seen, choice):
    return 0.9 * seen + 0.1 * float(choice), float(choice)


def act(seen, hidden):
    hidden = cell(seen, hidden)
    return head(hidden).log_softmax(1), hidden


hidden, seen = torch.zeros(1, 4), torch.zeros(1, 3)
for _ in range(5):
    logs, hidden = act(seen, hidden)
    choice = np.random.choice(3)
    seen, reward = move(seen, choice)
    loss = -logs[0, choice] * reward
    train: loss
"""
SOLVER = """\
class Solver:
    def __init__(self, field):
        self.field, self.slope = field, None

    def step(self, y):
        first = self.slope if self.slope is not None else self.field(y)
        y = y + 0.1 * (first + self.field(y + 0.1 * first))
        self.slope = self.field(y)
        return y


class Records:
    def __init__(self):
        self.x = torch.rand(24, 3)

    def batches(self, size):
        for part in ORDER.split(size):
            yield self.x[part]


class Trainer:
    def __init__(self):
        self.field = nn.Linear(3, 3)
        self.solver = Solver(self.field)

    def fit(self, records):
        optimizer = torch.optim.SGD(self.field.parameters(), lr=0.1)
        for y in records.batches(6):
            for _ in range(3):
                y = self.solver.step(y)
            loss = (y - 1).square().mean()
            train: loss


Trainer().fit(Records())
"""
SPLIT = LOADED.replace("MIXED", "False").replace(
    "loader =", "data, rest = torch.utils.data.random_split(data, [18, 6])\nloader ="
)
ITEMS = """\
import random

rnn, head = nn.GRU(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
items, hidden = [torch.randn(2 + number % 5, 3) for number in range(24)], None
BEFORE
for item in items:
    out, hidden = rnn(item, hidden)
    loss = head(out[-1]).square().mean()
    train: loss
"""
PLACED = TAKEN.replace("GIVEN", "x[begin : begin + 6]").replace("\nfor begin", "\nMOVED\nfor begin")
END = "    optimizer.step()\n"


def cut(path: str) -> tuple[str, str]:
    """The edit that cuts a state behind the step."""
    return END, f"{END}    {path} = {path}.detach()\n"


IN_FUNCTION = tuple(one.replace("    ", "        ") for one in cut("model.state"))
BEFORE_STEPS = "            for _ in range(3):\n"
KEPT = "self.solver.slope"
CUT_FIRST = f"            if {KEPT} is not None:\n                {KEPT} = {KEPT}.detach()\n"
BEFORE_FIRST = (BEFORE_STEPS, CUT_FIRST + BEFORE_STEPS)


class ShuffledBatchesShareState(OfACut):
    sentence = (
        "`{path}` has a row for each example and goes on from the iteration before. Batches are drawn in random order "
        "here, or may be: each may be meant to begin with a new one"
    )
    raises = (
        Example(RANDOM, *cut("model.state")),
        Example(LOADED.replace("MIXED", "True"), *cut("model.state")),
        Example(LOADED.replace("MIXED", "len(data) > 1"), *cut("model.state")),
        Example(FUNCTION, *IN_FUNCTION),
        Example(RECURRENT.replace("ORDER", "torch.randperm(24)"), *cut("hidden")),
        Example(TAKEN.replace("GIVEN", "x[part]"), *cut("hidden")),
        Example(TAKEN.replace("GIVEN", "windows(5)"), *cut("hidden")),
        Example(TAKEN.replace("GIVEN", "random.choice(x.split(6))"), *cut("hidden")),
        Example(SPLIT, *cut("model.state")),
        Example(ITEMS.replace("BEFORE", "random.shuffle(items)"), *cut("hidden")),
        Example(ITEMS.replace("BEFORE", "items = sorted(items, key=lambda item: len(item))"), *cut("hidden")),
        Example(ITEMS.replace("BEFORE", "items.sort(key=len)"), *cut("hidden")),
        Example(PLACED.replace("MOVED", "x = x[torch.randperm(len(x))]"), *cut("hidden")),
        Example(SOLVER.replace("ORDER", "torch.randperm(24)"), *BEFORE_FIRST),
    )
    silent = (
        Example(SOLVER.replace("ORDER", "torch.arange(24)"), *BEFORE_FIRST),
        Example(
            SOLVER.replace("ORDER", "torch.randperm(24)"),
            BEFORE_STEPS,
            f"            self.solver.slope = None\n{BEFORE_STEPS}",
        ),
        Example(UNIT.replace("ORDER", "torch.arange(24)"), *cut("model.state")),
        Example(LOADED.replace("MIXED", "False"), *cut("model.state")),
        Example(RECURRENT.replace("ORDER", "torch.arange(24)"), *cut("hidden")),
        Example(MEAN, *cut("average")),
        Example(SPLIT.replace("data, rest = torch", "part, rest = torch"), *cut("model.state")),
        Example(ITEMS.replace("BEFORE", "items = sorted(items, key=lambda item: item[0, 0].item())"), *cut("hidden")),
        Example(ITEMS.replace("BEFORE", "others = sorted(items, key=len)"), *cut("hidden")),
        Example(PLACED.replace("MOVED", "x = x[torch.arange(len(x))]"), *cut("hidden")),
        Example(PLACED.replace("MOVED", "others = others[torch.randperm(len(others))]"), *cut("hidden")),
        Example(AVERAGED, "average + rate", "average.detach() + rate"),
        Example(ACTED, *cut("hidden")),
        Example(TAKEN.replace("GIVEN", "x[begin : begin + 6]"), *cut("hidden")),
        Example(TAKEN.replace("GIVEN", "whole[:, begin : begin + 5]"), *cut("hidden")),
        Example(TAKEN.replace("GIVEN", "x[begin : begin + 6]\n    wrong = random.choice(others)"), *cut("hidden")),
        Example(RANDOM, END, f"{END}    model.state = None\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        sources = evidence.sources
        carriers = dict.fromkeys(c for one in evidence.trace.crossings if one.by != "earlier" for c in one.carriers)
        path = next((one.path for one in carriers if is_of_rows(sources, one)), "")
        place = shuffled(sources, evidence.failure.stack, evidence.trace.crossings) if path else ()
        return self.found(place, path=path) if place else None
