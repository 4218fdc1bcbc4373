"""A reset that other code has for a state, and that the passes leave out.

## What it does
Where another loop or function, such as an evaluation, gives a state its start before it calls the module, each pass
does the same; so it does where the class has a method for that which nothing calls. Where a method puts back one part
of a state alone, it puts back the other one, too.

## Why autograd fails
The next pass goes on from what the one before left, and runs into its graph, which is freed.

## Fix safety
Safe for a sum alone: what earlier passes added to a loss trains nothing once its graph is cut, so that to begin it anew
leaves each gradient as it is. Never safe otherwise: a state may be meant to be carried over, and autofix asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax.edits import begun

WHYS = {
    "state-begins-anew-elsewhere": (
        "Each iteration begins with {start}, as line {line} of {file} does before it calls the same module."
    ),
    "state-is-reset-in-part": (
        "{path} begins with {start} where line {line} puts {beside} back to its start, which is made with it."
    ),
    "state-is-never-reset": (
        "Each iteration begins with {start}, which resets {path} and which no iteration calls so far."
    ),
}
ANEW = "Begin each pass with the start that nothing gives again"


class ResetLeftOut(Rule):
    code, name = "AG222", "reset-left-out"
    title = "Begin each pass as other code does"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.PASS
    examples = Example.each("""\
! unsafe: an evaluation gives the state its start before each sequence
class Reader(torch.nn.GRU):
    def __init__(self):
        super().__init__(2, 4)
        self.hidden = self.begin()

    def begin(self):
        return torch.zeros(1, 1, 4)

    def forward(self, x):
        out, self.hidden = super().forward(x, self.hidden)
        return out[-1]


def evaluate(net):
    with torch.no_grad():
        for x in torch.randn(3, 5, 1, 2):
            net.hidden = net.begin()
            print(net(x).mean().item())


model = Reader()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(4, 5, 1, 2):
+    model.hidden = model.begin()
    train: model(x).pow(2).mean()
evaluate(model)
! unsafe: a constructor alone takes the start from a method
class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = torch.nn.LSTM(2, 4), torch.nn.Linear(4, 1)
        self.hidden = self.start()

    def start(self):
        return torch.zeros(1, 1, 4), torch.zeros(1, 1, 4)

    def forward(self, x):
        out, self.hidden = self.lstm(x, self.hidden)
        return self.head(out[-1])


model = Tagger()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x in torch.randn(2, 5, 1, 2):
+        model.hidden = model.start()
        train: (model(x) - 1).pow(2).mean()
! unsafe: an evaluation resets all parts of the model by its own method
class Memory(torch.nn.Linear):
    kept = None

    def reset(self):
        self.kept = None

    def forward(self, x):
        kept = self.weight if self.kept is None else self.kept
        self.kept = kept - 0.1 * x.T @ (x @ kept)
        return x @ self.kept


class Layers(torch.nn.Sequential):
    def reset(self):
        for one in self:
            one.reset()


def evaluate(net):
    with torch.no_grad():
        net.reset()
        print(net(torch.randn(5, 4)).square().mean().item())


model = Layers(Memory(4, 4), Memory(4, 4))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(4, 5, 4):
+    model.reset()
    train: model(x).pow(2).mean()
evaluate(model)
! unsafe: nothing calls the method that begins anew
class Leaky(torch.nn.Module):
    level = None

    def reset(self):
        self.level = None

    def forward(self, x):
        if self.level is None:
            self.level = torch.zeros_like(x)
        self.level = 0.8 * self.level + x
        return self.level.tanh()


net = torch.nn.Sequential(torch.nn.Linear(2, 3), Leaky(), torch.nn.Linear(3, 1), Leaky())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
+    net[1].reset()
+    net[3].reset()
    loss = sum(net(x) for x in torch.randn(4, 5, 2)).square().mean()
    train: loss
! unsafe: a method that each pass calls puts back one part of the state, and leaves the other
class Reader(torch.nn.LSTMCell):
    def __init__(self):
        super().__init__(3, 4)
        self.hidden, self.memory = torch.zeros(1, 4), torch.zeros(1, 4)

    def begin(self):
        self.hidden = torch.zeros(1, 4)
+        self.memory = torch.zeros_like(self.memory)

    def forward(self, x):
        self.hidden, self.memory = super().forward(x, (self.hidden, self.memory))
        return self.hidden


reader = Reader()
opt = torch.optim.SGD(reader.parameters(), lr=0.1)
for _ in range(5):
    reader.begin()
    for _ in range(3):
        out = reader(torch.randn(1, 3))
    train: (out - 1).pow(2).mean()
! the method is called now and then alone, so that both parts are carried on purpose
class Reader(torch.nn.LSTMCell):
    def __init__(self):
        super().__init__(3, 4)
        self.hidden, self.memory = torch.zeros(1, 4), torch.zeros(1, 4)

    def begin(self):
        self.hidden = torch.zeros(1, 4)

    def forward(self, x):
        self.hidden, self.memory = super().forward(x, (self.hidden, self.memory))
        return self.hidden


reader = Reader()
opt = torch.optim.SGD(reader.parameters(), lr=0.1)
for _ in range(5):
    if _ % 4 == 0:
        reader.begin()
    for _ in range(3):
        out = reader(torch.randn(1, 3))
    train: (out - 1).pow(2).mean()
! an evaluation hands the state on from its start, as training does
cell, head = torch.nn.GRUCell(2, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)


def evaluate():
    h = torch.zeros(6, 4)
    for x in torch.randn(3, 6, 2):
        h = cell(x, h)
    return head(h).mean().item()


def train():
    h = torch.zeros(6, 4)
    for x in torch.randn(5, 6, 2):
        h = cell(x, h)
        train: head(h).pow(2).mean()


train()
evaluate()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each state that other code resets, or resets in part."""
        for one in begun(diagnosis.trace.crossings, diagnosis.failure.stack, sources):
            if why := WHYS.get(one.about):
                where = {"line": one.place.line, "file": Path(one.place.file).name}
                told = why.format(path=one.path, start=one.start, beside=one.beside, **where)
                yield self.propose(one.steps, told, title=ANEW if one.about == "state-is-never-reset" else "")
