"""A value with a graph that code keeps for later calls, as a cache does.

## What it does
Computes it in each call: without the decorator of `functools` (`cached_property`, `lru_cache`) or of the project, and
without the lookup of code that asks first whether a dict, an attribute or an object has it already. Or keeps it without
its graph.

## Why autograd fails
The first backward frees the graph of what is kept; the next pass finds it empty. Kept with `retain_graph=True` it would
still describe the parameters as they were before the first update.

## Fix safety
Safe where the run shows that, with every update undone, all gradients stay as they are: the value is then only computed
with newer parameters. Without its graph, where nothing that is trained was reached through it.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.search import uncached
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier

WHY = "{path} is computed anew where it is read, from the parameters as they are then."
WHY_CUT = "{path} keeps values, which are constants to every iteration that reads them."


class ValueKeptForCalls(Rule):
    code, name = "AG221", "value-kept-for-calls"
    title = "Compute it anew in each call"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED, Cause.CONVERSION})
    tier = Tier.PASS
    examples = Example.each("""\
import functools
! the decorator keeps it
class Metric(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.eye(2))

-    @functools.cached_property
+    @property
    def matrix(self):
        return self.w @ self.w.t()


metric = Metric()
opt = torch.optim.SGD(metric.parameters(), lr=0.1)
for _ in range(4):
    train: (torch.randn(5, 2) @ metric.matrix).pow(2).mean()
! a dict keeps it, and each call looks there first
class Rotary(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rates, self.kept = torch.nn.Parameter(torch.rand(2)), {}

    def forward(self, count):
-        table = self.kept.get(count)
-        if table is None:
-            at = torch.arange(count)[:, None]
-            table = torch.sin(at * self.rates)
-            self.kept[count] = table
+        at = torch.arange(count)[:, None]
+        table = torch.sin(at * self.rates)
        return table


rotary, head = Rotary(), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*rotary.parameters(), *head.parameters()], lr=0.1)
for count in (3, 4, 3, 4):
    train: head(torch.randn(count, 2) * rotary(count)).pow(2).mean()
! a data set keeps what a frozen table gives, and looks there first
class Words(torch.utils.data.Dataset):
    def __init__(self, ids, table):
        self.ids, self.table, self.kept = ids, table, {}

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        if i not in self.kept:
-            self.kept[i] = self.table(self.ids[i])
+            self.kept[i] = self.table(self.ids[i]).detach()
        return self.kept[i]


table, net = torch.nn.Embedding(9, 3), torch.nn.Linear(3, 1)
loader = torch.utils.data.DataLoader(Words(torch.randint(9, (6, 2)), table), batch_size=3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    for x in loader:
        train: net(x).pow(2).mean()
! a decorator of the project keeps it
def once(function):
    kept = {}

    def inner(*given):
        if given not in kept:
            kept[given] = function(*given)
        return kept[given]

    return inner


w, head = torch.nn.Parameter(torch.eye(2)), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([w, *head.parameters()], lr=0.1)


-@once
def rotated(power):
    return torch.matrix_exp(w - w.t()).matrix_power(power)


for _ in range(4):
    train: (head(torch.randn(5, 2) @ rotated(3)) - 1).pow(2).mean()
! a decorator of the project keeps it as an attribute that it is told
def once(attribute):
    def decorate(function):
        @functools.wraps(function)
        def inner(self):
            if getattr(self, attribute, None) is None:
                setattr(self, attribute, function(self))
            return getattr(self, attribute)

        return inner

    return decorate


class Wave(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.number, self.points = torch.nn.Parameter(torch.ones(1)), torch.linspace(0, 1, 5)

-    @once("_start")
    def start(self):
        return torch.sin(self.number * self.points)


wave, net = Wave(), torch.nn.Linear(5, 5)
opt = torch.optim.SGD([*wave.parameters(), *net.parameters()], lr=0.1)
for _ in range(4):
    train: (net(torch.ones(5)) - wave.start()).pow(2).mean()
! an object of the user's keeps it, and tells whether it does
class Tables:
    def __init__(self):
        self.kept = {}

    def has(self, key):
        return key is not None and key in self.kept

    def put(self, key, table):
        self.kept[key] = table


class Graph(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.nodes, self.tables = torch.nn.Parameter(torch.rand(4, 2)), Tables()

    def forward(self, key=None):
-        if self.tables.has(key):
-            return self.tables.kept[key]
        table = (self.nodes @ self.nodes.t()).softmax(1)
        self.tables.put(key, table)
        return table


graph, head = Graph(), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*graph.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    train: head(torch.randn(5, 4) @ graph("whole")).pow(2).mean()
! such an object is given what it keeps by others, too
class Tables:
    def __init__(self):
        self.kept = {}

    def has(self, key):
        return key in self.kept

    def put(self, key, table):
        self.kept[key] = table

    def blend(self, key, table):
        self.kept[key] = 0.5 * self.kept[key] + 0.5 * table


w, tables, head = torch.nn.Parameter(torch.eye(2)), Tables(), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([w, *head.parameters()], lr=0.1)


def table(key):
    if tables.has(key):
        return tables.kept[key]
    found = torch.matrix_exp(w - w.t())
    tables.put(key, found)
    return found


for _ in range(4):
    train: head(torch.randn(5, 2) @ table("whole")).pow(2).mean()
    tables.blend("whole", w.t())
! an average begins in the same way
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.mean = torch.nn.Linear(2, 2), None

    def forward(self, x):
        z = self.body(x)
        if self.mean is None:
            self.mean = z.mean(0)
        else:
            self.mean = 0.9 * self.mean + 0.1 * z.mean(0)
        return z - self.mean


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    train: net(torch.randn(5, 2)).pow(2)[:, 0].mean()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each lookup of what was kept: without it, and with the values alone."""
        for steps, name in uncached.not_kept(diagnosis, sources):
            yield self.propose(steps, WHY.format(path=name))
        for steps, name in uncached.cut_where_kept(diagnosis, sources):
            yield self.propose(steps, WHY_CUT.format(path=name), title="Keep it without its graph", tier=Tier.CUT)
