"""The gradient of a result is read, which keeps none.

## What it does
Asks the result to keep its gradient (`h.retain_grad()`) where it gets its name, is kept for later, or is made; reads
the gradient of a part from the whole, which is the leaf; and makes a leaf of what a loop moves by its own gradient. A
result that took the name of the leaf that was made to be asked for its gradient gets a name of its own.

## Why autograd fails
A backward writes `.grad` into leaves alone. That of a result stays None unless the result was asked to keep it.

## Fix safety
Keeping a gradient changes none. A new leaf cuts the graph there, which is safe only where nothing trained lies behind.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from autofix.probe.wire import Origin
from autofix.search import leaves
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, modes, names
from autofix.syntax.edits import Step, insert_after, insert_before, own_name

WHY_PART = "The gradient of a part is the same part of the gradient of the whole, which is a leaf."
WHY_NAME = "The leaf that asked for its gradient keeps its name, by which that gradient is read."
WHY_RETAIN = "A result keeps its gradient only where it is asked to."


class GradientOfResult(Rule):
    code, name = "AG309", "gradient-of-result"
    title = "Ask the result to keep its gradient"
    causes = frozenset({Cause.NONLEAF_GRADIENT})
    tier = Tier.MEANT
    examples = Example.each("""\
from torch import nn
! the result has a name
w = torch.ones(3, requires_grad=True)
h = w * 2
+h.retain_grad()
h.pow(2).sum().backward()
print(1 * h.grad)
! the result is kept in a list
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

    def forward(self, x):
        self.seen = []
        for layer in self.layers:
            x = layer(x).tanh()
            if self.training:
+                x.retain_grad()
                self.seen.append(x)
            x = x * 2
        return x


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    net(torch.randn(5, 3)).square().mean().backward()
    print([(one.grad * one.detach()).sum().item() for one in net.seen])
    opt.step()
with torch.no_grad():
    print(net.eval()(torch.randn(5, 3)).sum().item())
! the result is made in an evaluation, too
class Unrolled(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(2, 3)

    def forward(self, x):
        h, states = torch.zeros(5, 3), []
        for row in x:
            h = self.cell(row, h)
+            if h.requires_grad:
+                h.retain_grad()
            states.append(h)
        return states


net = Unrolled()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    for _ in range(2):
        states = net(torch.randn(4, 5, 2))
        opt.zero_grad()
        states[-1].square().mean().backward()
        print([h.grad.norm().item() for h in states])
        opt.step()
    with torch.no_grad():
        print(net(torch.randn(4, 5, 2))[-1].mean().item())
! unsafe: the code does not say that the network is not to learn by what a round refines
net, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    first = net(torch.randn(5, 3))
    code = first
    for _ in range(2):
+        code = code.detach().requires_grad_()
        head(code).square().sum().backward()
        code = code - 0.1 * code.grad
    train: (first - code).square().mean()
! unsafe: the gradient of the result may be meant
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def cached(rows):
    rows = rows.clone().requires_grad_()
-    rows = nn.functional.normalize(rows, dim=-1)
-    loss = (rows[1:] - rows[:-1]).square().sum() + rows[:, 0].sum()
+    rows_now = nn.functional.normalize(rows, dim=-1)
+    loss = (rows_now[1:] - rows_now[:-1]).square().sum() + rows_now[:, 0].sum()
    loss.backward()
    return rows.grad * 1


for _ in range(4):
    x = torch.randn(6, 4)
    train: (net(x) * cached(x)).sum()
! the result has no name by which it could be asked
w = torch.ones(3, requires_grad=True)
for h in (w * 2, w * 3):
    h.sum().backward()
    print(1 * h.grad)
! no gradient is read: the flag of a result is set
w = torch.ones(3, requires_grad=True)
h = w * 2
h.requires_grad = False
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At each result that has no gradient; not where its flag was refused, or an optimizer refused it."""
        if diagnosis.failure.function:
            return
        yield from self._moved(diagnosis, sources)
        if diagnosis.failure.type == "ValueError":  # an optimizer's
            return
        for origin in diagnosis.trace.origins:
            yield from self._named(origin, sources)
            yield from self._retained(origin, diagnosis, sources)
            if edits := leaves.read_from_whole(origin, sources):
                yield self.propose(edits, WHY_PART, title="Read the gradient where it arrives", later=3)

    def _named(self, origin: Origin, sources: Sources) -> Iterator[Proposal]:
        """Another name for a result whose gradient is read by the name of the leaf that it is made of."""
        for _, source, node in sources.nodes(origin.stack[:1] if origin.kind == "nonleaf" else ()):
            with contextlib.suppress(Declined):
                edits = own_name(source, source.statement(node), origin.name)
                yield self.propose(edits, WHY_NAME, title="Leave the name to the leaf that asks for its gradient")

    def _retained(self, origin: Origin, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """`h.retain_grad()` where the tensor whose gradient is read gets its name, is kept for later, or is made."""
        frame = next(iter(diagnosis.failure.stack), None)
        source = sources.source(frame.file) if frame is not None else None
        if source is not None and origin.name.replace(".", "").isidentifier():
            for named in names.assignments(source, origin.name):
                if isinstance(named, ast.Assign) and not isinstance(named.value, ast.Constant):
                    yield self._asked(insert_after(source, named, [f"{origin.name}.retain_grad()"]), 8)
        for _, maker, node in sources.located(origin.stack[:1]):
            match made := maker.statement(node):
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node:
                    for kept in _stored(maker, made, name):
                        yield self._asked(insert_before(maker, kept, [f"{name}.retain_grad()"]), 9)
                    yield self._asked(insert_after(maker, made, [f"{name}.retain_grad()"]), 10)
                    if _is_evaluated(maker, made, diagnosis, sources):
                        lines = [f"if {name}.requires_grad:", f"    {name}.retain_grad()"]
                        yield self._asked(insert_after(maker, made, lines), 11)

    def _moved(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """A leaf of each variable that a loop moves by hand, `x = x - rate * x.grad`, at the top of its body."""
        for _, source, node in sources.located(diagnosis.failure.stack[:1]):
            statement, loop = source.statement(node), next(blocks.loops(source, node), None)
            steps = {one: _own_step(one) for one in loop.body if _own_step(one)} if loop is not None else {}
            if loop is not None and statement in steps:
                lines = [f"{name} = {name}.detach().requires_grad_()" for name in steps.values()]
                title = "Make a leaf of what each round moves"
                yield self.propose(insert_before(source, loop.body[0], lines), leaves.WHY, title=title, later=6)

    def _asked(self, edits: list[Step], later: int) -> Proposal:
        return self.propose(edits, WHY_RETAIN, later=later)


def _is_evaluated(maker: Source, made: ast.stmt, diagnosis: Diagnosis, sources: Sources) -> bool:
    """Whether a result may be made without gradient, too: in a function of a program that switches gradients off."""
    stack = diagnosis.failure.stack
    if maker.function(made) in [source.function(node) for _, source, node in sources.nodes(stack)]:
        return False
    return any(modes.switches_off(node) for source in sources.reached(stack) for node in source.walk())


def _own_step(statement: ast.stmt) -> str:
    """The variable that a statement binds anew by its own gradient; '' of any other statement."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) if f"{name}.grad" in names.reads(statement):
            return name
    return ""


def _stored(source: Source, made: ast.stmt, name: str) -> Iterator[ast.stmt]:
    """The statements below one that keep what it calls `name` for later."""
    following = blocks.block_of(source, made)
    for statement in following[following.index(made) + 1 :]:
        yield from map(source.statement, names.kept(statement, name))
        if name in names.binds(statement):
            return
