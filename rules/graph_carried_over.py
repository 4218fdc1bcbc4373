"""A graph that is carried from one iteration into the next.

## What it does
Cuts the graph where the tensor is stored: `h = h.detach()` after the step (a tuple, list or dict of states element by
element), `bank.append(z.detach())`, `self.state = state.detach()`. A method by which the class cuts its other state, if
the program calls it, is extended by what it leaves out.

## Why autograd fails
A hidden state, a memory bank or a running value keeps the graph of the iteration that made it. That iteration's
backward freed the graph; the next backward runs into it.

## Fix safety
Safe where the run shows that, within each iteration, all gradients stay as they are: only what flowed into earlier
iterations is cut, as truncated backpropagation through time does. `retain_graph=True` would instead go back further
each time, without bound.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.probe.wire import Carrier
from autofix.search.cutting import after_backward, before_use, carried, in_own_method, may_be_none, where_stored
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import blocks
from autofix.syntax.edits import insert_after

WHY = "Later reads of {path} get the value alone, and no backward goes on into the graph behind it."
BESIDE = "Cut the graph where the class cuts that of its other state"


class GraphCarriedOver(Rule):
    code, name = "AG203", "graph-carried-over"
    title = "Cut the graph where the state is kept"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.CUT
    usual = (
        "carried",
        "a state that an iteration takes over from the one before usually comes without its graph: detach it",
    )
    examples = Example.each("""\
from collections import deque
! a hidden state
cell, head = torch.nn.GRUCell(2, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
h = torch.zeros(3, 4)
for _ in range(5):
    h = cell(torch.randn(3, 2), h)
    train: head(h).pow(2).mean()
+    h = h.detach()
! unsafe: the mean may be meant as a constant to the loss of the pass that adds to it
class Smooth(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(2, 2)
        self.mean = torch.zeros(2)

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * self.lin(x).mean(0)
        return self.lin(x) - self.mean


net = Smooth()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 2)).pow(2).mean()
+    net.mean = net.mean.detach()
! unsafe: the code describes a loss that trains what earlier passes computed, too
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
memory = deque(maxlen=4)
for _ in range(4):
    s = torch.randn(3)
    loss = sum((net(s)[0] - best).pow(2) for s, best in memory) + net(s).pow(2).sum()
    train: loss
-    memory.append((s, net(s).max()))
+    memory.append((s, net(s).max().detach()))
! the object that holds what is kept may be None, as the code beside the step knows
class Memory:
    def __init__(self):
        self.bank = torch.zeros(0, 4)

    def add(self, z):
        self.bank = torch.cat([self.bank, z])[-20:]
        return self.bank


def train(memory):
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        z = net(torch.randn(5, 3))
        if memory is not None:
            z = z @ memory.add(z).T
        train: z.log_softmax(1)[:, 0].mean().neg()
+        if memory is not None:
+            memory.bank = memory.bank.detach()


train(Memory())
! derivatives are taken by what is carried
rule = torch.nn.Linear(3, 3)
opt = torch.optim.SGD(rule.parameters(), lr=0.1)
x, total = torch.ones(3, requires_grad=True), 0
for step in range(8):
    loss = (x - 2).pow(2).sum()
    total = total + loss
    (g,) = torch.autograd.grad(loss, x, retain_graph=True)
    x = x + 0.1 * rule(g.detach())
    if step % 2:
        train: total
+        x = x.detach().requires_grad_()
        total = 0
! the project has a function for it
def repackage(state):
    if isinstance(state, torch.Tensor):
        return state.detach()
    return tuple(repackage(part) for part in state)


lstm = torch.nn.LSTM(2, 4)
opt = torch.optim.SGD(lstm.parameters(), lr=0.1)
states = [None]
for _ in range(4):
    out, state = lstm(torch.randn(3, 5, 2), states[0])
    states = [state]
    train: out.pow(2).mean()
+    states = repackage(states)
! a method of the class cuts one state, and leaves what waits in a dict of lists
class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(3, 3)
        self.state, self.waiting = torch.zeros(4, 3), {}

    def forward(self, rows, x):
        for row, kept in self.waiting.items():
            for message, scale in kept:
                self.state = self.state.index_add(0, torch.tensor([row]), scale * message[None])
        self.waiting = {row: [] for row in range(4)}
        out = self.cell(x, self.state[rows])
        for row, message in zip(rows.tolist(), out):
            self.waiting[row].append((message, 0.5))
        return out

    def detach_state(self):
        self.state = self.state.detach()
+        self.waiting = {k: [(s[0].detach(), s[1]) for s in v] for k, v in self.waiting.items()}


memory = Memory()
opt = torch.optim.SGD(memory.parameters(), lr=0.1)
for i in range(5):
    loss = sum((memory(torch.tensor([j, (i + j) % 4]), torch.randn(2, 3)) - 1).square().mean() for j in range(2))
    train: loss
    memory.detach_state()
! of each record, all that has a graph is cut where it is put together
! unsafe: what an iteration itself puts into the memory may be meant to be trained
from collections import namedtuple

Seen = namedtuple("Seen", "x h out reward")


class Memory:
    def __init__(self):
        self.seen = deque(maxlen=8)

    def push(self, *args):
        self.seen.append(Seen(*args))


cell, head, memory = torch.nn.GRUCell(2, 4), torch.nn.Linear(4, 1), Memory()
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
for step in range(6):
    x, h = torch.randn(1, 2), torch.randn(1, 4)
    out = cell(x, h)
-    memory.push(x, h, (out, head(out)), 0.5 * step)
+    memory.push(x, h, (out.detach(), head(out).detach()), 0.5 * step)
    old = torch.cat([one.out[1] for one in memory.seen])
    now = torch.cat([head(cell(one.x, one.h) + one.out[0]) for one in memory.seen])
    train: (now - old).pow(2).mean()
! a function that goes through the batches in an expression keeps the state in a variable of the module
cell = torch.nn.GRUCell(2, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(1, 4)


def train_on(x):
    global h
    h = cell(x, h)
    loss = h.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
+    h = h.detach()
    return loss.item()


print(sum(train_on(torch.randn(1, 2)) for _ in range(4)))
! nothing is carried anywhere: the same loss twice
w = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
loss.backward()
loss.backward()
! a value named inside an expression has no place to cut
w = torch.ones(3, requires_grad=True)
torch.autograd.backward([w.exp().sum() + loss for loss in [w.sin().sum()] * 2])
v = w * 2
torch.autograd.grad([(p := v.exp().sum())], w)
torch.autograd.grad([p], w)
! a parameter keeps the states
class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.slots = torch.nn.Parameter(torch.zeros(4, 3), requires_grad=False)
        self.cell = torch.nn.GRUCell(2, 3)

    def forward(self, x, i):
        self.slots[i] = self.cell(x, self.slots[i])
        return self.slots.sum(1)


net = Memory()
opt = torch.optim.SGD(net.cell.parameters(), lr=0.1)
for _ in range(5):
    train: (net(torch.randn(2, 2), torch.randperm(4)[:2]) - 1).pow(2).mean()
+    net.slots.detach_()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For variables that carried a shared tensor: cut after the backward, where stored, and before their use."""
        carriers = carried(diagnosis.crossed)
        for edits, paths, later in in_own_method(carriers, diagnosis, sources):
            yield self.propose(edits, WHY.format(path=" and ".join(paths)), title=BESIDE, later=later)
        for edits, paths, later in after_backward(carriers, diagnosis, sources):
            yield self.propose(edits, WHY.format(path=" and ".join(paths)), later=later)
        yield from self._dropped(carriers, diagnosis, sources)
        for edits, paths, later in where_stored(carriers, sources):
            yield self.propose(edits, WHY.format(path=" and ".join(paths)), later=later)
        for crossing in diagnosis.crossed:
            for edits, path in before_use(crossing, sources):
                yield self.propose(edits, WHY.format(path=path), later=8)

    def _dropped(self, carriers: list[Carrier], diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """A cache that its class fills where it finds None: emptied after the step, it is filled with newer values."""
        empty = {c.path.removeprefix("self") for c in carriers if may_be_none(c, sources)}
        for frame, source, node in sources.nodes(diagnosis.failure.stack):
            here = [c.path for c in carriers if (c.file, c.function) == (frame.file, frame.function)]
            paths = dict.fromkeys(path for path in here if path.endswith(tuple(empty)))
            if empty and paths:
                statement = blocks.after_steps(source, source.statement(node))
                edits = insert_after(source, statement, [f"{path} = None" for path in paths])
                why = f"The next iteration makes {' and '.join(paths)} anew, from the parameters as they are then."
                yield self.propose(edits, why, title="Drop what was kept", later=7)
