"""An attribute that a constructor computes from parameters, and that every pass reads.

## What it does
Makes the attribute a property, which computes the value where it is read, by the same expression. Where one method of
the class alone reads it, or where a property would not be the same, the statement is repeated before it is read. The
object keeps what else it needs for that, such as an argument of the constructor.

## Why autograd fails
The first backward frees the graph of the attribute; the next pass finds it empty. Kept with `retain_graph=True` it
would still describe the parameters as they were before the first update. A deep copy of the object, for an average or a
target network, fails before that: it has no place for a graph.

## Fix safety
Safe where the run shows that, with every update undone, all gradients stay as they are: the value is then only computed
with newer parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.search import attributes
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Sources, Tier

WHY = "{path} is computed anew where it is read, from the parameters as they are then."


class AttributeMadeOnce(Rule):
    code, name = "AG209", "attribute-made-once"
    title = "Compute it anew where it is read"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED, Cause.CONVERSION})
    tier = Tier.PASS
    examples = Example.each("""\
import copy
! another class reads it, and the value is made in several steps
class Prior(torch.nn.Module):
    def __init__(self, size, floor=0.1):
        super().__init__()
        self.floor = floor
        self.raw = torch.nn.Parameter(torch.zeros(size))
-        scale = self.raw.exp() + floor
-        self.weights = scale / scale.sum()
+
+    @property
+    def weights(self):
+        scale = self.raw.exp() + self.floor
+        return scale / scale.sum()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.prior = Prior(2)

    def forward(self, x):
        return x @ self.prior.weights


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 2)).pow(2).mean()
! unsafe: an average of the object begins as a copy of it, with the values from before they were used
class Gain(torch.nn.Module):
    def __init__(self, size, floor):
        super().__init__()
        self.size, self.floor = size, floor
        self.raw = torch.nn.Parameter(torch.zeros(size))
-        self.gain = (self.raw.exp() + floor).expand(2, size)
+
+    @property
+    def gain(self):
+        return (self.raw.exp() + self.floor).expand(2, self.size)

    def forward(self, x):
        return x * self.gain.mean(0) if x.dim() < 2 else x @ self.gain.t()


net = Gain(3, 0.1)
mean = copy.deepcopy(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 3)).pow(2).mean()
    with torch.no_grad():
        for slow, fast in zip(mean.parameters(), net.parameters()):
            slow.lerp_(fast, 0.1)
! a helper of the constructor makes two of them and nothing else
class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))
        self.build()

    def build(self):
        self.scale = self.w.exp()
        self.shift = self.w.tanh()


layer = Layer()
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    x = torch.randn(5, 2)
+    layer.build()
    (x * layer.scale + layer.shift).pow(2).mean().backward()
    opt.step()
! unsafe: what it was at the start may be meant
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))
-        self.start = self.w.exp()
+
+    @property
+    def start(self):
+        return self.w.exp()

    def forward(self, x):
        return (x * self.w).pow(2).mean() + (self.w.exp() - self.start).pow(2).sum()

    def moved(self):
        return (self.w.exp() - self.start).norm().item()


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 2))
    print(net.moved())
! what it is made of beside parameters is kept in the object
class Net(torch.nn.Module):
    def __init__(self, ids):
        super().__init__()
        self.table = torch.nn.Embedding(5, 2)
        ids = torch.tensor(ids)
+        self.ids = ids
        self.mask = self.table(ids)

    def forward(self, x):
+        self.mask = self.table(self.ids)
        return x * self.mask


net = Net([1])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    train: net(torch.randn(5, 2)).pow(2).mean()
! the object keeps something else by the name of the constructor's argument
class Net(torch.nn.Module):
    def __init__(self, floor):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))
        self.floor = 2 * floor
        self.scale = self.w.exp() + floor

    def forward(self, x):
        return x * self.scale


net = Net(0.1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    net(torch.randn(5, 2)).pow(2).mean().backward()
    opt.step()
! what is drawn would be drawn again
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))
        self.scale = self.w.exp() * torch.rand(2)

    def forward(self, x):
        return x * self.scale


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    net(torch.randn(5, 2)).pow(2).mean().backward()
    opt.step()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each method that made what crosses: all of it that it keeps, together."""
        declined: Declined | None = None
        # Where the code writes to what it kept, a copy for the write says what was meant, and computes nothing twice.
        written = any(one.optimizer < 0 for saved in diagnosis.trace.saved for one in saved.writes)
        for kept in attributes.made_once(diagnosis, sources):
            try:
                steps = kept.where_read()
            except Declined as error:
                declined = error
            else:
                yield self.propose(steps, WHY.format(path=kept.paths), tier=Tier.EMPTY if written else self.tier)
        if declined is not None:
            raise declined
