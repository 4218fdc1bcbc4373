"""A computation that is trained, run where gradients are switched off.

## What it does
Takes the forward out of what switched gradients off, wherever that was: a block, one of several contexts, a decorator
on a method, on a class or of the project's own, a flag that a caller gives. Where training itself runs inside an
evaluation, it switches gradients on for the function that trains.

## Why autograd fails
No graph is recorded while gradients are off. What counts is the mode in which the forward ran, not where that was
written: a caller's `with torch.no_grad():` holds for all that is called in it.

## Fix safety
Safe where one place alone switched gradients off and every parameter that an optimizer owns gets its gradient when that
place does not.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.core.model import Cause, Diagnosis
from autofix.search.rule import Example, Proposal, Rule, Sources, Tier
from autofix.syntax import blocks, calls, vocabulary
from autofix.syntax.edits import Splice, decorate, embed, ensure_import, replace, set_keyword, undecorate, unwrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.probe.wire import Frame, Origin
    from autofix.syntax.edits import Step
    from autofix.syntax.source import Source

WHY = "The forward that backward goes through records its graph."
WHY_WITHIN = "What is called from the block trains with gradients; the rest of the block stays without."
_OUTWARDS = 3
"""How many frames out from where the mode was set an own context or decorator may stand."""
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class TrainedWithoutGradient(Rule):
    """Let the forward record its graph."""

    code, name = "AG409", "trained-without-gradient"
    title = "Take the forward out of the block"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    examples = (
        Example("""\
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
-    with torch.no_grad():
-        out = net(torch.randn(5, 2))
+    out = net(torch.randn(5, 2))
    opt.zero_grad()
    out.pow(2).mean().backward()
    opt.step()
"""),
        Example("""\
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


class Objective:
-    @torch.no_grad()
    def __call__(self, x):
        return net(x).pow(2).mean()


objective = Objective()
for _ in range(4):
    loss = objective(torch.randn(5, 2))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""),
        Example("""\
! what adapts to the data is called from what evaluates
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


+@torch.enable_grad()
def adapt(x):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


def evaluate():
    total = 0
    with torch.no_grad():
        for _ in range(4):
            x = torch.randn(5, 2)
            adapt(x)
            total += net(x).mean().item()
    return total


print(evaluate())
"""),
        Example("""\
! a decorator of the project's own
import functools

import torch


def without_gradient(function):
    @functools.wraps(function)
    def inner(*args):
        with torch.no_grad():
            return function(*args)

    return inner


torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


@without_gradient
def accuracy(x):
    return net(x).mean().item()


-@without_gradient
def objective(x):
    return net(x).pow(2).mean()


for _ in range(4):
    x = torch.randn(5, 2)
    loss = objective(x)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(accuracy(x))
"""),
        Example("""\
! a context of the project's own
import contextlib

import torch


@contextlib.contextmanager
def evaluating(net):
    net.eval()
    with torch.no_grad():
        yield net
    net.train()


torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
-    with evaluating(net):
-        loss = net(torch.randn(5, 2)).pow(2).mean()
+    loss = net(torch.randn(5, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
with evaluating(net):
    print(net(torch.ones(1, 2)))
"""),
        Example("""\
! a flag that whoever trains has to give
import torch

torch.manual_seed(0)
body, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)


def predict(x, train=False):
    with torch.set_grad_enabled(train):
        return head(body(x).tanh())


for _ in range(4):
-    loss = predict(torch.randn(5, 2)).pow(2).mean()
+    loss = predict(torch.randn(5, 2), train=True).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""),
        Example("""\
! one of two contexts
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
-    with torch.no_grad(), torch.autocast("cpu", enabled=False):
+    with torch.autocast("cpu", enabled=False):
        loss = net(torch.randn(5, 2)).pow(2).mean()
    loss.backward()
    opt.step()
"""),
        Example("""\
! the mode is entered by hand, at a call that says nothing of gradients
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
off = torch.no_grad()
off.__enter__()
net(torch.randn(5, 2)).pow(2).mean().backward()
"""),
        Example("""\
! gradients are on; the loss is made of a detached value
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)


@torch.no_grad()
def accuracy(x):
    return net(x).mean()


x = torch.randn(5, 2)
print(accuracy(x))
net(x).detach().pow(2).mean().backward()
"""),
    )

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each place where gradients went off: where it was written, and who it was meant for."""
        seen: set[tuple[str, int]] = set()
        for origin in diagnosis.trace.origins:
            if origin.kind != "no_grad" or not origin.stack or origin.stack[0] in diagnosis.failure.stack[:1]:
                continue
            if (place := (origin.stack[0].file, origin.stack[0].line)) not in seen:
                seen.add(place)
                yield from self._within(origin.stack[0], diagnosis, sources)
                yield from self._blocks(origin, sources)
                yield from self._decorated(origin, sources)

    def _within(self, off: Frame, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where the backward itself runs with gradients off: they are switched on for the function that trains."""
        failing = diagnosis.failure.stack
        holders = [f for f in failing[1:] if (f.file, f.function) == (off.file, off.function)]
        node, source = sources.node(off), sources.source(off.file)
        function = sources.function(failing[0]) if failing else None
        if node is None or source is None or function is None or not holders:
            return
        if blocks.passed(source, source.statement(node), holders):
            trained = sources.source(failing[0].file)
            assert trained is not None  # noqa: S101  as it has the function
            torch, imports = ensure_import(trained, "torch")
            edits = [*imports, *decorate(trained, function, f"@{torch}.enable_grad()")]
            yield self.propose(edits, WHY_WITHIN, title=f"Switch gradients on in {function.name}")

    def _blocks(self, origin: Origin, sources: Sources) -> Iterator[Proposal]:
        """The `with` that switched gradients off, or one around it that did so by a context of the project's own."""
        found: list[tuple[Source, ast.With, ast.withitem, Frame]] = []
        for frame, source, node in sources.nodes(origin.stack[:_OUTWARDS]):
            statement = source.statement(node)
            if not isinstance(statement, ast.With):
                continue
            off = [one for one in statement.items if _switches(one.context_expr)]
            if frame is not origin.stack[0]:
                whole = node is statement and len(statement.items) == 1
                off = [one for one in statement.items if whole or node is one.context_expr]
            found += [(source, statement, one, frame) for one in off[:1]]
        for depth, (source, statement, item, _) in enumerate(reversed(found)):
            yield self.propose(_without(source, statement, item), WHY, later=2 + depth)
        for source, statement, item, frame in found:
            if frame is origin.stack[0]:
                yield from self._flag(source, statement, item, origin, sources)

    def _flag(
        self, source: Source, statement: ast.With, item: ast.withitem, origin: Origin, sources: Sources
    ) -> Iterator[Proposal]:  # fmt: skip
        """`set_grad_enabled(train)`: the caller gives the flag, or the condition was meant the other way round."""
        match item.context_expr:
            case ast.Call(func=function, args=[ast.expr() as flag]) if calls.name_of(function) == "set_grad_enabled":
                if isinstance(flag, ast.Constant):
                    return
                maker = source.function(statement)
                if isinstance(flag, ast.Name) and maker is not None and flag.id in (names := calls.parameters(maker)):
                    for _, caller, call in sources.nodes(origin.stack[1:2]):
                        if isinstance(call, ast.Call):
                            place = calls.place_of(names, flag.id)
                            edits = set_keyword(caller, call, flag.id, "True", position=place)
                            yield self.propose(edits, WHY, title=f"Call it with {flag.id}=True")
                elif isinstance(flag, ast.UnaryOp) and isinstance(flag.op, ast.Not):
                    edits = replace(source, flag, source.segment(flag.operand))
                    yield self.propose(edits, WHY, title="Turn the condition round", later=1)
                elif isinstance(flag, ast.Compare):
                    yield self.propose(embed(source, flag, "not {}"), WHY, title="Turn the condition round", later=1)

    def _decorated(self, origin: Origin, sources: Sources) -> Iterator[Proposal]:
        """Functions and classes that a decorator runs without gradient, those that were called by name first."""
        makers, called, files = set(), set(), []
        for frame, source, node in sources.nodes(origin.stack[:_OUTWARDS]):
            files += [one for one in sources.imported_by(source) if one not in files]
            called.add(calls.name_of(node) if isinstance(node, ast.Call) else "")
            if frame is origin.stack[0] and isinstance(source.statement(node), (ast.With, ast.Expr)):
                holder = source.function(node)
                while holder is not None:
                    makers.add(holder.name)
                    holder = source.function(holder)
        for source in files:
            for node in ast.walk(source.tree):
                if isinstance(node, _DEFINED):
                    for one in node.decorator_list:
                        if _switches(one) if not makers else calls.name_of(one) in makers:
                            implied = node.name in (*called, "forward", "__call__")
                            title = f"Take {node.name} out of {ast.unparse(one).removesuffix('()')}"
                            edits = undecorate(source, node, one)
                            yield self.propose(edits, WHY, title=title, later=1 if implied else 5)
                elif isinstance(node, ast.Call) and _switches(node.func) and node.args and not makers:
                    edits = replace(source, node, source.segment(node.args[0]))
                    yield self.propose(edits, WHY, title="Use the function itself", later=2)


def _switches(node: ast.expr) -> bool:
    """Whether an expression is a call that gives a mode without gradient, or a mode that may be one."""
    if isinstance(node, ast.Call):
        return calls.name_of(node) in vocabulary.GRADIENT_MODES
    return isinstance(node, ast.Attribute) and node.attr in vocabulary.WITHOUT_GRADIENT


def _without(source: Source, statement: ast.With, item: ast.withitem) -> list[Step]:
    """A block without one of its contexts."""
    if len(statement.items) == 1:
        return unwrap(source, statement)
    place = statement.items.index(item)
    start, end = source.extent(item.context_expr)
    if place + 1 < len(statement.items):
        end = source.extent(statement.items[place + 1].context_expr)[0]
    else:
        before = statement.items[place - 1]
        start = source.extent(before.optional_vars or before.context_expr)[1]
    return [Splice(source, start, end, "")]
