"""Parameter that a module keeps only by what it computed from it

## What it does
Gives the parameter a name of its own in the module, and computes the value from it where it is read:
`self.scale = torch.exp(nn.Parameter(…))` becomes `self.raw_scale = nn.Parameter(…)` and a property `scale`. Or makes a
parameter of the whole value: `nn.Parameter(torch.randn(3) * 0.1)` for `nn.Parameter(torch.randn(3)) * 0.1`.

## Why autograd fails
The constructor computes the value once. The first backward frees its graph; the next pass finds it empty. The parameter
itself stands in no attribute, so `parameters()` does not give it, and no optimizer trains it. An optimizer that is
given the value refuses it, since it is a result; so does a deep copy of the module.

## Fix safety
Safe where the run shows that the parameter gets a gradient and that nothing of the program holds it, and where the
function keeps what it gives in a range, as `exp`, `softplus` and `softmax` do: nobody makes a parameter that cannot be
trained. All other gradients stay those of the code. Where an optimizer is given the value itself, the code says that
the value is trained, and the edit, which trains the parameter, is not safe.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax.edits import completed, registered

WHY = "The parameter behind {paths} is kept by name, and each forward computes from its current value."
WHOLE = "Make a parameter of the whole value"
WHY_WHOLE = "{path} is a parameter itself, which begins with that value."


class ParameterWithoutName(Rule):
    code, name = "AG425", "parameter-without-name"
    title = "Keep the parameter, and compute from it where it is read"
    causes = frozenset({Cause.FREED_GRAPH, Cause.NONLEAF_GRADIENT, Cause.CONVERSION})
    tier = Tier.PASS
    examples = Example.each("""\
import torch.nn.functional as F
from torch import nn
! a scale
class Kernel(nn.Module):
    def __init__(self, scale):
        super().__init__()
-        self.scale = torch.exp(nn.Parameter(torch.tensor(scale)))
+        self.raw_scale = nn.Parameter(torch.tensor(scale))
        self.noise = nn.Parameter(torch.zeros(1))
+
+    @property
+    def scale(self):
+        return torch.exp(self.raw_scale)

    def forward(self, x):
        return torch.exp(-(x / self.scale).square()) + self.noise.exp()


model = Kernel(0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(5):
    loss = (model(torch.linspace(0, 1, 9)) - 0.5).square().mean()
    train[optimizer]: loss
! two of them, one by a variable
class Head(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = nn.Linear(size, size)
        raw = nn.Parameter(torch.zeros(size))
-        self.scale = F.softplus(raw) + 1e-3
-        self.mix = nn.Parameter(torch.zeros(size)).softmax(0)
+        self.raw_scale = raw
+        self.raw_mix = nn.Parameter(torch.zeros(size))
+
+    @property
+    def scale(self):
+        return F.softplus(self.raw_scale) + 1e-3
+
+    @property
+    def mix(self):
+        return self.raw_mix.softmax(0)

    def forward(self, x):
        return (self.layer(x) * self.scale).matmul(self.mix)


head = Head(3)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(5):
    train[optimizer]: (head(torch.randn(8, 3)) - 1).square().mean()
! the last layer of several
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
-        self.gate = torch.sigmoid(
-            nn.Parameter(torch.zeros(1))
-        )
+        self.raw_gate = nn.Parameter(torch.zeros(1))
+
+    @property
+    def gate(self):
+        return torch.sigmoid(
+            self.raw_gate
+        )

    def forward(self, x):
        return self.gate * self.layers(x)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    train[optimizer]: (net(torch.randn(8, 2)) - 1).square().mean()
! unsafe: an optimizer is given the value, which the code says is trained
class Prior:
    def __init__(self, counts):
        self.means = nn.Parameter(torch.zeros(len(counts)))
        logits = nn.Parameter(counts.log())
-        self.weights = torch.softmax(logits, dim=0)
+        self.raw_weights = logits
+
+    @property
+    def weights(self):
+        return torch.softmax(self.raw_weights, dim=0)

    def parameters(self):
-        return [self.means, self.weights]
+        return [self.means, self.raw_weights]

    def log_prob(self, x):
        return torch.logsumexp(self.weights.log() - (x[:, None] - self.means).square(), 1)


prior = Prior(torch.tensor([3.0, 5.0]))
optimizer = torch.optim.SGD(prior.parameters(), lr=0.1)
for _ in range(5):
    train[optimizer]: -prior.log_prob(torch.randn(8)).mean()
! unsafe: the factor may be what the parameter is to begin with, or count in each pass
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(3))
-        self.weight = nn.Parameter(torch.randn(3)) * 0.1
+        self.weight = nn.Parameter(torch.randn(3) * 0.1)

    def forward(self, x):
        return (x * self.weight + self.bias).square().mean()


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    train[optimizer]: net(torch.ones(3))
! unsafe: the same where the module is copied
import copy
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
-        self.bias = nn.Parameter(torch.randn(3)).mul(0.1)
+        self.bias = nn.Parameter(torch.randn(3).mul(0.1))

    def forward(self, x):
        return (self.linear(x) + self.bias).tanh()


layer = Layer()
net = nn.Sequential(*(copy.deepcopy(layer) for _ in range(2)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train[optimizer]: (net(torch.randn(5, 3)) - 1).square().mean()
! the value is made of another variable, too
class Net(nn.Module):
    def __init__(self, most):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(3))
        self.scale = torch.sigmoid(nn.Parameter(torch.randn(3))) * most

    def forward(self, x):
        return (x * self.scale + self.bias).square().mean()


net = Net(2.0)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    train[optimizer]: net(torch.ones(3))
! something else assigns it
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(3))
        self.scale = torch.exp(nn.Parameter(torch.zeros(3)))

    def forward(self, x):
        return (x * self.scale + self.bias).square().mean()

    def reset(self):
        self.scale = torch.ones(3)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    train[optimizer]: net(torch.ones(3))
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each constructor that keeps what crosses, made of parameters that it does not keep."""
        refused = diagnosis.cause is Cause.NONLEAF_GRADIENT
        made = diagnosis.lost("nonleaf") if refused else [one.made for one in diagnosis.trace.crossings]
        if diagnosis.failure.function.endswith(".__deepcopy__"):
            made = [one.stack for one in diagnosis.trace.origins]
        for found in registered(sources, made):
            if found.listed or not refused:
                steps = [*found.steps, *(found.listed if refused else ())]
                yield self.propose(steps, WHY.format(paths=", ".join(found.paths)))
        if not refused:
            for steps, path in completed(sources, made):
                yield self.propose(steps, WHY_WHOLE.format(path=path), title=WHOLE, later=1)
