"""A state that is never put back to the start that each pass has for it.

## What it does
Forgets what the pass before left (`model.state = None` at the begin of the loop, `del word` behind the step), where the
code takes a start that stands ready if it finds nothing. So each pass begins with it, and not the first one alone.
Where batches come in random order, it repeats at the begin of the loop what gives the state its start before it.
So it does where each pass begins anew what one call takes with a state.

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

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax.edits import begun, windows

WHY = "{path} is empty when the next iteration begins, so that it starts with {start} as the first one does."
WHY_SHUFFLED = "{path} begins with {start} for each batch; those of line {line} come, or may come, in random order."
WHY_BESIDE = "{path} begins with {start} in each iteration, as {beside} of line {line}, beside it in one call, does."
WHY_WINDOW = "{path} begins with {start} behind each step: the iterations up to the next one add to it."
WHYS = {
    "start-is-read-once": WHY,
    "shuffled-batches-share-state": WHY_SHUFFLED,
    "state-outlives-sequence": WHY_BESIDE,
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
! unsafe: the same of states that get their start before the loop over the batches, once in each epoch
rnn, head = torch.nn.LSTM(2, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
for epoch in range(2):
    h = torch.zeros(1, 6, 4)
    c = torch.zeros(1, 6, 4)
    for part in torch.randperm(24).split(6):
+        h = torch.zeros(1, 6, 4)
+        c = torch.zeros(1, 6, 4)
        out, (h, c) = rnn(part.sin().expand(3, 2, 6).mT, (h, c))
        train: (head(out[-1]) - 1).pow(2).mean()
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
        train: total
+        total = 0.0
! an average is no sum
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
mean = 0.0
for turn, x in enumerate(torch.randn(8, 6, 2)):
    mean = 0.9 * mean + 0.1 * (net(x) - 1).pow(2).mean()
    if (turn + 1) % 2 == 0:
        train: mean
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each variable that has a start: behind the step that follows the failing backward."""
        for one in begun(diagnosis.trace.crossings, diagnosis.failure.stack, sources):
            if why := WHYS.get(one.about):
                told = why.format(path=one.path, start=one.start, beside=one.beside, line=one.place.line)
                yield self.propose(one.steps, told)
        for steps, path, start in windows(diagnosis.trace.crossings, diagnosis.failure.stack, sources):
            yield self.propose(steps, WHY_WINDOW.format(path=path, start=start))
