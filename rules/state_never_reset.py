"""A state that is never put back to the start that each pass has for it.

## What it does
Forgets what the pass before left (`model.state = None` at the begin of the loop, `del word` behind the step), where the
code takes a start that stands ready if it finds nothing. So each pass begins with it, and not the first one alone.
Where another loop or function, such as an evaluation, gives a state its start before it calls the module, each pass
does the same; so it does where the class has a method for that which nothing calls. Where a method puts back one part
of a state alone, it puts back the other one, too. So it does where each pass begins anew what one call takes with a
state.

## Why autograd fails
The next pass goes on from what the one before left, and runs into its graph, which is freed. Where that graph is cut, a
sentence still begins with the last word of another one.

## Fix safety
Safe for a sum alone: what earlier passes added to a loss trains nothing once its graph is cut, so that to begin it anew
leaves each gradient as it is. Never safe otherwise: a state that is carried over from pass to pass is written in the
same way. Where the start is made in each pass and only the first one reads it, autofix asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax.edits import begun, windows

WHY = "{path} is empty when the next iteration begins, so that it starts with {start} as the first one does."
WHY_ELSEWHERE = "Each iteration begins with {start}, as line {line} of {file} does before it calls the same module."
WHY_WHOLE = "{path} begins with {start} where line {line} puts {beside} back to its start, which is made with it."
WHY_UNCALLED = "Each iteration begins with {start}, which resets {path} and which nothing called so far."
WHY_SHUFFLED = "{path} begins with {start} for each batch; those of line {line} come, or may come, in random order."
WHY_BESIDE = (
    "{path} begins with {start} in each iteration, as {beside} of line {line} does that one call takes with it."
)
WHY_WINDOW = "{path} begins with {start} behind each step: the iterations up to the next one add to it."
WHYS = {
    "shuffled-batches-share-state": WHY_SHUFFLED,
    "state-begins-anew-elsewhere": WHY_ELSEWHERE,
    "state-outlives-sequence": WHY_BESIDE,
    "state-is-reset-in-part": WHY_WHOLE,
    "state-is-never-reset": WHY_UNCALLED,
}


class StateNeverReset(Rule):
    code, name = "AG213", "state-never-reset"
    title = "Begin each pass anew"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.PASS
    examples = Example.each("""\
! unsafe: each pass may be meant to go on from what the one before left
cell, head = torch.nn.GRUCell(4, 4), torch.nn.Linear(4, 4)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
for _ in range(5):
    hidden, start, loss = torch.randn(6, 4), torch.randn(6, 4), 0
    for right in torch.randint(4, (3, 6)):
        word = start if "said" not in locals() else said
        hidden = cell(word, hidden)
        said = head(hidden).softmax(1)
        loss = loss + torch.nn.functional.nll_loss(said.log(), right)
    train: loss
+    del said
! unsafe: the same of a start that a function is given, which asks for None
class Decoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = torch.nn.GRUCell(2, 4), None

    def forward(self, x, start):
        for one in x:
            if self.state is None:
                self.state = start.clone()
            self.state = self.cell(one, self.state)
        return self.state


encoder, decoder = torch.nn.Linear(3, 4), Decoder()
opt = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
for _ in range(5):
+    decoder.state = None
    train: decoder(torch.randn(3, 6, 2), encoder(torch.randn(6, 3))).pow(2).mean()
! unsafe: a method is handed a start in each pass, and takes the first one alone
class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = torch.nn.GRUCell(2, 4), None

    def begin(self, start):
-        if self.state is None:
-            self.state = start
+        self.state = start

    def forward(self, row):
        self.state = self.cell(row, self.state)
        return self.state


memory, first = Memory(), torch.nn.Linear(3, 4)
opt = torch.optim.SGD([*memory.parameters(), *first.parameters()], lr=0.1)
for _ in range(5):
    memory.begin(first(torch.randn(6, 3)))
    for row in torch.randn(3, 6, 2):
        out = memory(row)
    train: (out - 1).pow(2).mean()
! the method is handed it again and again in a pass
class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = torch.nn.GRUCell(2, 4), None

    def begin(self, start):
        if self.state is None:
            self.state = start

    def forward(self, row):
        self.begin(torch.zeros(len(row), 4))
        self.state = self.cell(row, self.state)
        return self.state


memory = Memory()
opt = torch.optim.SGD(memory.parameters(), lr=0.1)
for _ in range(5):
    for row in torch.randn(3, 6, 2):
        out = memory(row)
    train: (out - 1).pow(2).mean()
! unsafe: the same of a start that is a parameter, and of an attribute that may not be there
class Evolving(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Parameter(torch.randn(4, 4))
        self.cell = torch.nn.GRUCell(4, 4)

    def forward(self, x):
        weight = self.weight if hasattr(self, "weight") else self.first
        self.weight = self.cell(weight, weight)
        return x @ self.weight


net = Evolving()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    loss = sum(net(x).pow(2).mean() for x in torch.randn(3, 6, 4))
    train: loss
+    del net.weight
! unsafe: an evaluation gives the state its start before each sequence
class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = torch.nn.GRU(2, 4), torch.nn.Linear(4, 1)
        self.hidden = self.begin()

    def begin(self):
        return torch.zeros(1, 1, 4)

    def forward(self, x):
        out, self.hidden = self.cell(x, self.hidden)
        return self.head(out[-1])


def evaluate(net):
    with torch.no_grad():
        for x in torch.randn(3, 5, 1, 2):
            net.hidden = net.begin()
            print(net(x).item())


model = Reader()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(4, 5, 1, 2):
+    model.hidden = model.begin()
    train: model(x).pow(2).mean()
evaluate(model)
! unsafe: an evaluation resets all parts of the model by its own method
class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Parameter(torch.randn(4, 4))
        self.kept = None

    def reset(self):
        self.kept = None

    def forward(self, x):
        kept = self.first if self.kept is None else self.kept
        self.kept = kept - 0.1 * x.T @ (x @ kept)
        return x @ self.kept


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Memory(), Memory()])

    def reset(self):
        for one in self.layers:
            one.reset()

    def forward(self, x):
        for one in self.layers:
            x = one(x)
        return x


def evaluate(net):
    with torch.no_grad():
        net.reset()
        print([net(x).square().mean().item() for x in torch.randn(2, 5, 4)])


model = Layers()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(4, 5, 4):
+    model.reset()
    train: model(x).pow(2).mean()
evaluate(model)
! unsafe: nothing calls the method that begins anew
class Leaky(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.level = None

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
! a sum of penalties is begun anew by a method of the model
class Layer(torch.nn.Linear):
    penalty = 0

    def forward(self, x):
        self.penalty = self.penalty + self.weight.square().sum()
        return super().forward(x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Layer(3, 4), Layer(4, 1)

    def clear(self):
        for part in (self.one, self.two):
            part.penalty = 0

    def forward(self, x):
        return self.two(self.one(x).tanh())


model = Net()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(6, 5, 3):
+    model.clear()
    loss = model(x).square().mean() + 0.01 * (model.one.penalty + model.two.penalty)
    train: loss
! unsafe: a method that each pass calls puts back one part of the state, and leaves the other
class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.LSTMCell(3, 4)
        self.hidden, self.memory = torch.zeros(1, 4), torch.zeros(1, 4)

    def begin(self):
        self.hidden = torch.zeros(1, 4)
+        self.memory = torch.zeros_like(self.memory)

    def forward(self, x):
        self.hidden, self.memory = self.cell(x, (self.hidden, self.memory))
        return self.hidden


reader = Reader()
opt = torch.optim.SGD(reader.parameters(), lr=0.1)
for _ in range(5):
    reader.begin()
    for _ in range(3):
        out = reader(torch.randn(1, 3))
    train: (out - 1).pow(2).mean()
! unsafe: two parts are left, one of them a buffer with a start of its own
class Sender(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.encode = torch.nn.GRUCell(3, 4), torch.nn.Linear(4, 4)
        self.hidden = torch.zeros(1, 4)
        self.sent = torch.zeros(1, 4)
        self.register_buffer("mean", torch.full((1, 4), 0.5))

    def init_hidden(self):
        self.hidden = torch.zeros(1, 4)
+        self.sent = torch.zeros_like(self.sent)
+        self.mean = torch.full((1, 4), 0.5)

    def forward(self, x):
        self.hidden = self.cell(x + self.sent.sum(), self.hidden + self.mean)
        message = self.encode(self.hidden).tanh()
        self.sent = torch.where((message - self.sent).abs() > 0.1, message, self.sent)
        self.mean = 0.9 * self.mean + 0.1 * self.hidden
        return self.sent + self.mean


sender = Sender()
opt = torch.optim.SGD(sender.parameters(), lr=0.1)
for _ in range(5):
    sender.init_hidden()
    for _ in range(3):
        out = sender(torch.randn(1, 3))
    train: (out - 1).pow(2).mean()
! the start of the part that is left was drawn
class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.LSTMCell(3, 4)
        self.hidden, self.memory = torch.zeros(1, 4), torch.randn(1, 4)

    def begin(self):
        self.hidden = torch.zeros(1, 4)

    def forward(self, x):
        self.hidden, self.memory = self.cell(x, (self.hidden, self.memory))
        return self.hidden


reader = Reader()
opt = torch.optim.SGD(reader.parameters(), lr=0.1)
for _ in range(5):
    reader.begin()
    for _ in range(3):
        out = reader(torch.randn(1, 3))
    train: (out - 1).pow(2).mean()
! the method is called now and then alone, so that both parts are carried on purpose
class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.LSTMCell(3, 4)
        self.hidden, self.memory = torch.zeros(1, 4), torch.zeros(1, 4)

    def begin(self):
        self.hidden = torch.zeros(1, 4)

    def forward(self, x):
        self.hidden, self.memory = self.cell(x, (self.hidden, self.memory))
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
! who carries a state over has to begin somewhere
cell, head = torch.nn.GRUCell(2, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
h = None
for _ in range(5):
    for x in torch.randn(3, 6, 2):
        if h is None:
            h = torch.zeros(len(x), 4)
        h = cell(x, h)
    train: head(h).pow(2).mean()
! the code itself begins anew now and then
cell, head = torch.nn.GRUCell(2, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
for epoch in range(2):
    h = None
    for _ in range(5):
        start = torch.zeros(6, 4)
        for x in torch.randn(3, 6, 2):
            h = cell(x, start if h is None else h)
        train: head(h).pow(2).mean()
! unsafe: batches in random order may all begin with a new state
class Unit(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = torch.nn.GRUCell(2, 4), None

    def forward(self, x):
-        if self.state is None:
-            self.state = torch.zeros(len(x), 4)
+        self.state = torch.zeros(len(x), 4)
        for row in x.unbind(1):
            self.state = self.cell(row, self.state)
        return self.state.sum(1)


net, x = Unit(), torch.randn(24, 3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for part in torch.randperm(24).split(6):
    train: (net(x[part]) - 1).pow(2).mean()
! the same in their order: windows of one sequence
class Unit(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = torch.nn.GRUCell(2, 4), None

    def forward(self, x):
        if self.state is None:
            self.state = torch.zeros(len(x), 4)
        for row in x.unbind(1):
            self.state = self.cell(row, self.state)
        return self.state.sum(1)


net, x = Unit(), torch.randn(24, 3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for part in torch.arange(24).split(6):
    train: (net(x[part]) - 1).pow(2).mean()
! unsafe: each pass begins with a new hidden state, and the word that is said first is that of another sentence
encoder = torch.nn.Linear(3, 5)
cell, head = torch.nn.GRUCell(4, 5), torch.nn.Linear(5, 4)
opt = torch.optim.SGD([*encoder.parameters(), *cell.parameters(), *head.parameters()], lr=0.1)


def say(word, hidden):
    hidden = cell(word, hidden)
    return head(hidden).softmax(1), hidden


word = torch.zeros(6, 4)
for _ in range(5):
+    word = torch.zeros(6, 4)
    hidden, loss = encoder(torch.randn(6, 3)).tanh(), 0
    for right in torch.randint(4, (3, 6)):
        word, hidden = say(word, hidden)
        loss = loss + torch.nn.functional.nll_loss(word.log(), right)
    train: loss
! a sum of several batches for each step
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for turn, x in enumerate(torch.randn(8, 6, 2)):
    total += (net(x) - 1).pow(2).mean() / 2
    if (turn + 1) % 2 == 0:
        opt.zero_grad()
        total.backward()
        opt.step()
+        total = 0.0
! it begins anew elsewhere, too
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for turn, x in enumerate(torch.randn(8, 6, 2)):
    if turn == 5:
        total = 0.0
    total += (net(x) - 1).pow(2).mean() / 2
    if (turn + 1) % 2 == 0:
        train: total
! an average is no sum
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
mean = 0.0
for turn, x in enumerate(torch.randn(8, 6, 2)):
    mean = 0.9 * mean + 0.1 * (net(x) - 1).pow(2).mean()
    if (turn + 1) % 2 == 0:
        train: mean
! each pass goes backward
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0.0
for x in torch.randn(4, 6, 2):
    total += (net(x) - 1).pow(2).mean()
    train: total
! an average begins with its first value, which each step adds to it
net = torch.nn.Linear(2, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
mean = None
for _ in range(5):
    z = net(torch.randn(6, 2))
    for one in z:
        mean = z.mean(0) if mean is None else 0.9 * mean + 0.1 * one
    train: (z - mean).pow(2).mean()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each variable that has a start: behind the step that follows the failing backward."""
        for one in begun(diagnosis.trace.crossings, diagnosis.failure.stack, sources):
            where = {"line": one.place.line, "file": Path(one.place.file).name}
            why = WHYS.get(one.about, WHY)
            yield self.propose(one.steps, why.format(path=one.path, start=one.start, beside=one.beside, **where))
        for steps, path, start in windows(diagnosis.trace.crossings, diagnosis.failure.stack, sources):
            yield self.propose(steps, WHY_WINDOW.format(path=path, start=start))
