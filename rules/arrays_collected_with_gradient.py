"""Arrays that are collected from results of networks where nothing is trained.

## What it does
Runs the function that collects them, or the loop, under `torch.no_grad()`: a rollout, an evaluation, a prediction.

## Why autograd fails
An array has no place for the graph of a result. What is collected for later passes, or to be looked at, needs none, and
each conversion would have to cut it.

## Fix safety
Safe where the run shows that everything that is trained gets the same gradients: what a loss is made of must not be
computed there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, modes, update
from autofix.syntax.edits import without_gradient

WHY = "What is collected here are values: nothing that is computed for them needs a graph."
_SEVERAL = 2
_DEEPEST = 3


class ArraysCollectedWithGradient(Rule):
    code, name = "AG441", "arrays-collected-with-gradient"
    title = "Collect it under torch.no_grad()"
    causes = frozenset({Cause.CONVERSION})
    tier = Tier.MEANT
    usual = "failed", "what collects values for later, or to be looked at, runs under no_grad"
    examples = Example.each("""\
import numpy
from torch.distributions import Normal
! a rollout
net, critic = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*net.parameters(), *critic.parameters()], lr=0.001)


+@torch.no_grad()
def rollout(state):
    states, actions, values, old = [], [], [], []
    for _ in range(5):
        policy = Normal(net(state), 0.5)
        action = policy.sample()
        states.append(state.numpy())
        actions.append(action.numpy())
        values.append(critic(state).numpy())
        old.append(policy.log_prob(action).numpy())
        state = 0.5 * state + action
    return [torch.from_numpy(numpy.array(one)) for one in (states, actions, values, old)]


for _ in range(4):
    states, actions, values, old = rollout(torch.randn(2))
    ratio = (Normal(net(states), 0.5).log_prob(actions) - old).exp()
    gain = -states.pow(2).sum(1, keepdim=True)
    loss = -(ratio * (gain - values)).mean() + (critic(states) - gain).pow(2).mean()
    train: loss
! a loop beside the training
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    train: net(torch.randn(5, 2)).pow(2).mean()
    found = []
-    for x in torch.ones(3, 4, 2):
-        out = net(x)
-        found.append((out.numpy(), out.sigmoid().numpy()))
+    with torch.no_grad():
+        for x in torch.ones(3, 4, 2):
+            out = net(x)
+            found.append((out.numpy(), out.sigmoid().numpy()))
    print(numpy.array(found).mean())
! a method, in which a helper converts
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.one(x), self.two(x)

+    @torch.no_grad()
    def predict(self, x):
        mean, spread = self(x)
        return mean.numpy(), spread.exp().numpy()


model = Model()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    mean, spread = model(torch.randn(5, 2))
    train: ((mean - 1).pow(2) + spread.exp()).mean()
    print(sum(one.sum() for one in model.predict(torch.ones(3, 2))))
! the loop trains what it converts
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    out = net(torch.randn(5, 2))
    print(out.numpy().mean(), out.exp().numpy().mean())
    train: out.pow(2).mean()
! one conversion is detached where it is
net = torch.nn.Linear(2, 1)
print([net(x).numpy() for x in torch.ones(2, 3, 2)])
! the function is the forward
class Model(torch.nn.Linear):
    def forward(self, x):
        out = super().forward(x)
        self.seen = out.numpy(), out.exp().numpy()
        return out


Model(2, 1)(torch.ones(3, 2)).sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Innermost first: the outermost loop that does not train, and the function."""
        if not diagnosis.failure.function.endswith((".numpy", ".__array__")):
            raise Declined("nothing is turned into an array")
        trained = {(f.file, f.function) for one in diagnosis.trace.earlier for f in one.stack}
        for depth, (frame, source, node) in enumerate(sources.located(diagnosis.failure.stack[:_DEEPEST])):
            function = source.function(node) if (frame.file, frame.function) not in trained else None
            if function is not None and _collects(source, [function]):
                title = f"Collect it under torch.no_grad(), in {function.name}"
                yield self.propose(without_gradient(source, function), WHY, title=title, later=depth)
            loops = [one for one in blocks.loops(source, node) if _collects(source, [one])]
            if loops and function is None:
                yield self.propose(without_gradient(source, loops[-1:]), WHY, later=depth)


def _collects(source: Source, what: Sequence[ast.stmt]) -> bool:
    """Whether statements convert several results, train nothing and are no forward."""
    if any(map(update.trains, what)) or any(getattr(one, "name", "") in ("forward", "__call__") for one in what):
        return False
    off = any(modes.may_switch_off(one) for statement in what for one in getattr(statement, "decorator_list", ()))
    return not off and sum(_converts(source, one) for one in calls.within(*what)) >= _SEVERAL


def _converts(source: Source, call: ast.Call) -> bool:
    """Whether a call turns what may have a graph into an array."""
    match call:
        case ast.Call(func=ast.Attribute(value=value, attr="numpy"), args=[]):
            return ".detach()" not in source.segment(value)
    return False
