"""A derivative that is differentiated again, computed without a graph of its own.

## What it does
Asks `torch.autograd.grad`, or a function of `torch.autograd.functional`, for a graph of its result:
`create_graph=True`. Where gradients (`p.grad`) are differentiated, the `backward` that brought them.

## Why autograd fails
`torch.autograd.grad` returns plain values unless it is told otherwise. A second derivative, or a loss made of the first
one (a physics residual, a gradient penalty), finds no graph behind them and has nowhere to go. With
`allow_unused=True` the second derivative is None, and what computes with it fails.

## Fix safety
A derivative by something without a graph, or a loss that is nothing but constants, can only mean that the first
derivative has one. Safe where every parameter that an optimizer owns gets a gradient, and where one call alone lost
the graph, or those that did differentiate one forward, or the same parameters at the same point, and all get theirs.
Where another derivative still enters a loss as a plain number, both edits are shown and neither is safe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Frame
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, vocabulary
from autofix.syntax.edits import set_keyword

WHY = "The derivative has a graph of its own, so that it can be differentiated in turn."
TITLE_ALL = "Give each derivative a graph"


class DerivativeWithoutGraph(Rule):
    code, name = "AG407", "derivative-without-graph"
    title = "Give the derivative a graph"
    causes = frozenset({Cause.NO_GRAPH, Cause.DIFFERENTIATED_ONCE, Cause.UNUSED_INPUT})
    tier = Tier.ANSWER
    usual = "failed", "a backward that is to be differentiated again is usually made of torch operations, unmarked"
    examples = Example.each("""\
! the derivative of a derivative
net = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1, bias=False))
x = torch.rand(8, 1, requires_grad=True)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    y = net(x)
-    dx = torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)[0]
+    dx = torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True, create_graph=True)[0]
    dxx = torch.autograd.grad(dx, x, torch.ones_like(dx), create_graph=True)[0]
    loss = (dxx + dx + y).pow(2).mean()
    train: loss
! a loss made of a derivative
from torch.autograd import grad

w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(3):
-    (slope,) = grad(outputs=w.exp().sum(), inputs=w)
+    (slope,) = grad(outputs=w.exp().sum(), inputs=w, create_graph=True)
    loss = slope.norm()
    train: loss
! the outer derivative is allowed to find nothing, and gives None
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x, y, weights = torch.randn(8, 3), torch.randn(8, 1), torch.zeros(8, 1, requires_grad=True)
    weighted = (weights * (net(x) - y).square()).sum()
-    inner = torch.autograd.grad(weighted, list(net.parameters()))
+    inner = torch.autograd.grad(weighted, list(net.parameters()), create_graph=True)
    weight, bias = [p - 0.1 * g for p, g in zip(net.parameters(), inner)]
    held_out = (torch.nn.functional.linear(x, weight, bias) - 1).square().mean()
    slope = torch.autograd.grad(held_out, weights, allow_unused=True)[0]
    useful = (-slope).clamp(min=0)
    train: (useful.detach() * (net(x) - y).square()).sum()
! two derivatives at the same point, each of its own forward
from torch.autograd.functional import hessian, jacobian

net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1, bias=False))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.rand(2)
-    curve = hessian(lambda z: net(z).sum(), x)
+    curve = hessian(lambda z: net(z).sum(), x, create_graph=True)
-    slope = jacobian(lambda z: net(z).sum(), x)
+    slope = jacobian(lambda z: net(z).sum(), x, create_graph=True)
    loss = (curve @ slope - x).square().sum()
    train: loss
! the product of a curvature and a vector, of the gradients as one vector
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1, bias=False))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(5, 2)
for _ in range(4):
    opt.zero_grad()
-    torch.autograd.backward(net(x).exp().mean(), None, True)
+    torch.autograd.backward(net(x).exp().mean(), None, True, create_graph=True)
    flat = torch.cat([p.grad.flatten() for p in net.parameters()])
    product = torch.autograd.grad(flat @ torch.ones_like(flat), list(net.parameters()))
    print(sum(one.abs().sum().item() for one in product))
    opt.step()
! the flag of a backward is given by position
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
net(torch.randn(5, 2)).exp().mean().backward(None, True, False)
torch.autograd.grad(net[0].weight.grad.sum(), net[0].weight)
! a loss is made of gradients, and its own backward fails: that one is to take a derivative
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
x = torch.randn(5, 2, requires_grad=True)
net(x).exp().mean().backward()
x.grad.norm().backward()
! the flag of a functional derivative is given by position
net = torch.nn.Linear(2, 1)
x = torch.ones(2)
slope = torch.autograd.functional.jacobian(lambda z: net(z).exp().sum(), x, False)
slope.sum().backward()
! no derivative takes part: the value was taken out of the graph
w = torch.ones(2, requires_grad=True)
loss = torch.tensor(w.exp().sum().item())
loss.backward()
""")

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Where a backward forbids a second derivative."""
        return super().hints(diagnosis) if diagnosis.cause is Cause.DIFFERENTIATED_ONCE else iter(())

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """One proposal for each call that gave a derivative without a graph, and one for all in its function."""
        lost = list(sources.innermost(diagnosis.lost("derivative")))
        for source, node in lost:
            if isinstance(node, ast.stmt):
                continue
            if not isinstance(node, ast.Call) or not _is_free(node):
                raise Declined("create_graph is given by position")
            yield self.propose(set_keyword(source, node, "create_graph", "True"), WHY)
            others = [one for where, one in lost if where is source and isinstance(one, ast.Call)]
            alike = [call for call in dict.fromkeys((*_beside(source, node), *others)) if _is_free(call)]
            if len(alike) > 1:
                edits = [edit for call in alike for edit in set_keyword(source, call, "create_graph", "True")]
                yield self.propose(edits, WHY, title=TITLE_ALL, later=1)


def _is_free(call: ast.Call) -> bool:
    """Whether create_graph is not given by position."""
    own = calls.differentiation(call) or vocabulary.GRAD
    return len(call.args) <= vocabulary.FUNCTIONAL.get(calls.name_of(call.func), calls.place_of(own, "create_graph"))


def _beside(source: Source, node: ast.Call) -> list[ast.Call]:
    """The calls of the same function, in the same function or module, in the order of the text."""
    spelled = ast.dump(node.func)
    around = (one for one in source.walk(source.function(node)) if isinstance(one, ast.Call))
    alike = (one for one in around if ast.dump(one.func) == spelled)
    return sorted(alike, key=lambda one: (one.lineno, one.col_offset))
