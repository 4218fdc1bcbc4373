"""A graph that is carried from one iteration into the next.

## What it does
Cuts the graph where the tensor is stored: `h = h.detach()` after the step (a tuple, list or dict of states element by
element), `bank.append(z.detach())`, `self.state = state.detach()`.

## Why autograd fails
A hidden state, a memory bank or a running value keeps the graph of the iteration that made it. That iteration's
backward freed the graph; the next backward runs into it.

## Fix safety
Safe where the run shows that, within each iteration, all gradients stay as they are: only what flowed into earlier
iterations is cut, as truncated backpropagation through time does. `retain_graph=True` would instead go back further
each time, without bound.
"""

from __future__ import annotations

import ast
import contextlib
from typing import TYPE_CHECKING

from autofix.core.edit import Declined
from autofix.core.model import Cause, Diagnosis
from autofix.search.rule import Example, Proposal, Rule, Sources, Tier
from autofix.syntax import blocks, calls, names, writes
from autofix.syntax.edits import append_call, insert_after, insert_before

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.probe.wire import Carrier, Crossing
    from autofix.syntax.edits import Step
    from autofix.syntax.source import Source

WHY = "The next iteration starts from the value of {path}, not from the graph of the iteration that made it."
CUTS = {
    "tensor": "{path} = {path}.detach()",
    "parameter": "{path}.detach_()",
    "tuple": "{path} = tuple(t.detach() for t in {path})",
    "list": "{path} = [t.detach() for t in {path}]",
    "dict": "{path} = {{k: t.detach() for k, t in {path}.items()}}",
}


class GraphCarriedOver(Rule):
    """Detach the state where one iteration hands it to the next."""

    code, name = "AG203", "graph-carried-over"
    title = "Cut the graph where the state is kept"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.CUT
    examples = (
        Example("""\
import torch

torch.manual_seed(0)
cell, head = torch.nn.GRUCell(2, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
h = torch.zeros(3, 4)
for _ in range(5):
    h = cell(torch.randn(3, 2), h)
    loss = head(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
+    h = h.detach()
"""),
        Example("""\
import torch

torch.manual_seed(0)
lstm = torch.nn.LSTM(2, 4)
opt = torch.optim.SGD(lstm.parameters(), lr=0.1)
state = None
for _ in range(4):
    out, state = lstm(torch.randn(3, 5, 2), state)
    opt.zero_grad()
    out.pow(2).mean().backward()
    opt.step()
+    state = tuple(t.detach() for t in state)
"""),
        Example("""\
import torch


class Smooth(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(2, 2)
        self.mean = torch.zeros(2)

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * self.lin(x).mean(0)
        return self.lin(x) - self.mean


torch.manual_seed(0)
net = Smooth()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    net(torch.randn(5, 2)).pow(2).mean().backward()
    opt.step()
+    net.mean = net.mean.detach()
"""),
        Example("""\
! unsafe: the code describes a loss that trains what earlier passes computed, too
from collections import deque

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
memory = deque(maxlen=4)
for _ in range(4):
    s = torch.randn(3)
    loss = sum((net(s)[0] - best).pow(2) for s, best in memory) + net(s).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
-    memory.append((s, net(s).max()))
+    memory.append((s, net(s).max().detach()))
"""),
        Example("""\
! nothing is carried anywhere: the same loss twice
import torch

w = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
loss.backward()
loss.backward()
"""),
        Example("""\
! a value named inside an expression has no place to cut
import torch

w = torch.ones(3, requires_grad=True)
torch.autograd.backward([w.exp().sum() + loss for loss in [w.sin().sum()] * 2])
v = w * 2
torch.autograd.grad([(p := v.exp().sum())], w)
torch.autograd.grad([p], w)
"""),
        Example("""\
import torch


class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.slots = torch.nn.Parameter(torch.zeros(4, 3), requires_grad=False)
        self.cell = torch.nn.GRUCell(2, 3)

    def forward(self, x, i):
        self.slots[i] = self.cell(x, self.slots[i])
        return self.slots.sum(1)


torch.manual_seed(0)
net = Memory()
opt = torch.optim.SGD(net.cell.parameters(), lr=0.1)
for _ in range(5):
    loss = (net(torch.randn(2, 2), torch.randperm(4)[:2]) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
+    net.slots.detach_()
"""),
        Example("""\
import torch


class Content(torch.nn.Module):
    def __init__(self, target):
        super().__init__()
-        self.target = target
+        self.target = target.detach()

    def forward(self, x):
        return (x - self.target).pow(2).mean()


class Style(torch.nn.Module):
    def __init__(self, target):
        super().__init__()
-        self.target = target @ target.t()
+        self.target = (target @ target.t()).detach()

    def forward(self, x):
        return (x @ x.t() - self.target).pow(2).mean()


torch.manual_seed(0)
net = torch.nn.Linear(3, 4)
content, style = Content(net(torch.rand(5, 3))), Style(net(torch.rand(5, 3)))
image = torch.rand(5, 3, requires_grad=True)
opt = torch.optim.Adam([image])
for _ in range(4):
    loss = content(net(image)) + style(net(image))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""),
    )

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For variables that carried a shared tensor: cut after the backward, where stored, and before their use."""
        crossings = [crossing for crossing in diagnosis.trace.crossings if crossing.by == "failing"]
        carriers = list(dict.fromkeys(carrier for crossing in crossings for carrier in crossing.carriers))
        yield from self._after_backward(carriers, diagnosis, sources)
        yield from self._dropped(carriers, diagnosis, sources)
        for carrier in carriers:
            yield from self._where_stored(carrier, sources)
        yield from self._all_stored(carriers, sources)
        for crossing in crossings:
            for carrier in crossing.carriers:
                yield from self._before_use(carrier, crossing, sources)

    def _after_backward(self, carriers: list[Carrier], diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        freed = (saved.freed_by for saved in diagnosis.trace.saved[:1] if saved.freed_by)
        stacks = (diagnosis.failure.stack, *freed)
        placed = [(depth, *one) for s in stacks for depth, frame in enumerate(s) for one in sources.nodes([frame])]
        for depth, frame, source, node in dict.fromkeys(placed):
            here = [c for c in carriers if (c.file, c.function) == (frame.file, frame.function) and c.kind in CUTS]
            statement = blocks.after_steps(source, source.statement(node))
            kept = [c for c in here if not names.only_in_loop(source, statement, c.path)]
            kept = [c for c in kept if c.kind != "tensor" or not _made_before(source, statement, c.path)]
            paths = {carrier.path: CUTS[carrier.kind].format(path=carrier.path) for carrier in kept}
            groups = [list(paths), *([path] for path in paths if len(paths) > 1)]
            for chosen in groups if paths else ():
                edits = insert_after(source, statement, [paths[path] for path in chosen])
                # A path through other objects' attributes is a worse place than the method that uses the state.
                reach = 3 * any(path.removeprefix("self.").count(".") + path.count("[") for path in chosen)
                yield self.propose(edits, WHY.format(path=" and ".join(chosen)), later=min(depth, 2) + reach)

    def _dropped(self, carriers: list[Carrier], diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """A cache that its class fills where it finds None: emptied after the step, it is filled with newer values."""
        empty = {c.path.removeprefix("self") for c in carriers if _may_be_none(c, sources)}
        for frame, source, node in sources.nodes(diagnosis.failure.stack):
            here = [c.path for c in carriers if (c.file, c.function) == (frame.file, frame.function)]
            paths = dict.fromkeys(path for path in here if path.endswith(tuple(empty)))
            if empty and paths:
                statement = blocks.after_steps(source, source.statement(node))
                edits = insert_after(source, statement, [f"{path} = None" for path in paths])
                why = f"{' and '.join(paths)} is made anew in the next iteration, from the parameters as they are then."
                yield self.propose(edits, why, title="Drop what was kept", later=7)

    def _where_stored(self, carrier: Carrier, sources: Sources) -> Iterator[Proposal]:
        source = sources.source(carrier.file)
        if source is None:
            return
        why = WHY.format(path=carrier.path)
        for statement in names.assignments(source, carrier.path):
            if _is_constant(statement.value):
                continue
            single = not isinstance(statement, ast.Assign) or not isinstance(
                statement.targets[0], (ast.Tuple, ast.List)
            )
            with contextlib.suppress(Declined):
                if single and carrier.kind == "tensor" and statement.value is not None:
                    yield self.propose(append_call(source, statement.value, ".detach()"), why, later=2)
                elif carrier.kind in CUTS:
                    line = CUTS[carrier.kind].format(path=carrier.path)
                    yield self.propose(insert_after(source, statement, [line]), why, later=4)
        if carrier.kind != "tensor":
            yield from self._into_container(carrier, source, why)

    def _all_stored(self, carriers: list[Carrier], sources: Sources) -> Iterator[Proposal]:
        """Several attributes may keep a graph each: one cut alone would only uncover the next."""
        edits: dict[Step, str] = {}
        for carrier in carriers:
            source = sources.source(carrier.file)
            if source is None or carrier.kind != "tensor" or not carrier.path.startswith("self."):
                continue
            for statement in names.assignments(source, carrier.path):
                value = statement.value
                single = not isinstance(statement, ast.Assign) or isinstance(statement.targets[0], ast.Attribute)
                if value is not None and single and not _is_constant(value):
                    with contextlib.suppress(Declined):
                        edits.update(dict.fromkeys(append_call(source, value, ".detach()"), carrier.path))
        if len(edits) > 1:
            path = " and ".join(dict.fromkeys(edits.values()))
            yield self.propose(edits, WHY.format(path=path), later=3)

    def _into_container(self, carrier: Carrier, source: Source, why: str) -> Iterator[Proposal]:
        for _, item in names.fills(source, carrier.path):
            for part in item.elts if isinstance(item, ast.Tuple) else [item]:
                if isinstance(part, calls.VALUES):
                    yield self.propose(append_call(source, part, ".detach()"), why, later=1)

    def _before_use(self, carrier: Carrier, crossing: Crossing, sources: Sources) -> Iterator[Proposal]:
        """Where the variable may hold nothing yet, only a guarded cut can stand before its use."""
        for frame, source, node in sources.located(crossing.used):
            if (frame.function, frame.file) != (carrier.function, carrier.file) or "[" in carrier.path:
                continue
            if carrier.kind not in CUTS:
                continue
            if carrier.path not in {ast.unparse(part) for part in calls.tensors_in(node)}:
                continue
            cut = CUTS[carrier.kind].format(path=carrier.path)
            lines = [f"if {carrier.path} is not None:", f"    {cut}"]
            try:
                edits = insert_before(source, source.statement(node), lines)
            except Declined:
                continue
            yield self.propose(edits, WHY.format(path=carrier.path), later=8)


def _may_be_none(carrier: Carrier, sources: Sources) -> bool:
    """Whether the class that keeps an attribute itself sets it to None."""
    source = sources.source(carrier.file)
    if source is None or not carrier.path.startswith("self."):
        return False
    values = (statement.value for statement in names.assignments(source, carrier.path))
    return any(isinstance(value, ast.Constant) and value.value is None for value in values)


def _made_before(source: Source, statement: ast.stmt, path: str) -> bool:
    """Whether a variable keeps one tensor through all passes of the loop around `statement`.

    Cut at the end of the body it would be another in the first pass than in those after it; it is cut where it is made.
    """
    loop = next(blocks.loops(source, statement), None)
    if loop is None or not path.isidentifier():
        return False
    shared = (one for one in ast.walk(source.tree) if isinstance(one, (ast.Global, ast.Nonlocal)))
    if any(path in one.names for one in shared) or path in names.binds(loop):
        return False
    return not any(writes.written(source, node) == path for node in ast.walk(loop))


def _is_constant(value: ast.expr | None) -> bool:
    return value is None or isinstance(value, (ast.Constant, ast.List, ast.Dict, ast.Tuple, ast.Set))
