"""A graph that is made once, before the loop or in `__init__`, and used in every iteration.

## What it does
Computes the tensor where it is used: the statement that made it moves to the start of the loop, or is repeated at the
start of the method that uses it.

## Why autograd fails
The first backward frees the graph of the tensor; the second iteration finds it empty. Kept with `retain_graph=True` it
would still describe the parameters as they were before the first update.

## Fix safety
Safe where the run shows that, with every update undone, all gradients stay as they are: the tensor is then only
computed with newer parameters. If nothing that is trained went into it, a detach is the smaller edit and comes first.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.core.model import Cause, Diagnosis
from autofix.search.rule import Example, Proposal, Rule, Sources, Tier
from autofix.syntax import blocks, names
from autofix.syntax.edits import computed_in, insert_before, move_before

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autofix.probe.wire import Carrier, Frame, Stack
    from autofix.syntax.source import Source

WHY_CLOSURE = "{path} is computed anew each time the function is called, from the parameters as they are then."
WHY = "{path} is computed anew in each iteration, from the parameters as they are then."


class GraphMadeOnce(Rule):
    """Compute in the loop what was computed once."""

    code, name = "AG204", "graph-made-once"
    title = "Compute it anew in each iteration"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.PASS
    examples = (
        Example("""\
! unsafe: a value that is made once may also be meant to stay as it was
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
-penalty = net.weight.pow(2).sum()
for _ in range(4):
+    penalty = net.weight.pow(2).sum()
    loss = net(torch.randn(5, 2)).pow(2).mean() + 0.1 * penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
"""),
        Example("""\
! an optimizer calls its closure several times a step
! unsafe: it takes other steps where each call computes the loss anew
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)
x, y = torch.randn(5, 2), torch.randn(5, 1)
for _ in range(3):
-    out = net(x)

    def closure():
        opt.zero_grad()
+        out = net(x)
        loss = (out - y).pow(2).mean()
        loss.backward()
        return loss

    opt.step(closure)
"""),
        Example("""\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2, 2))
        self.mix = torch.softmax(self.w, dim=1)

    def forward(self, x):
+        self.mix = torch.softmax(self.w, dim=1)
        return x @ self.mix


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = net(torch.randn(5, 2)).pow(2)[:, 0].mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""),
        Example("""\
! unsafe: a value that is made once may also be meant to stay as it was
import torch

torch.manual_seed(0)


def train(net, steps):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
-    scale = net.bias.exp()
    for _ in range(steps):
+        scale = net.bias.exp()
        out = net(torch.randn(5, 2)) * scale
        opt.zero_grad()
        out.pow(2).mean().backward()
        opt.step()


train(torch.nn.Linear(2, 1), 4)
"""),
        Example("""\
import torch

torch.manual_seed(0)
x = torch.randn(8, 2)
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.1)
-out = net(x)
-loss = (out - 1).pow(2).mean()  # how far off
for _ in range(4):
    opt.zero_grad()
+    out = net(x)
+    loss = (out - 1).pow(2).mean()  # how far off
    loss.backward()
    opt.step()
"""),
        Example("""\
! unsafe: a value that is made once may also be meant to stay as it was
import torch


def objective_of(net):
-    penalty = sum(p.pow(2).sum() for p in net.parameters())

    def objective(x):
+        penalty = sum(p.pow(2).sum() for p in net.parameters())
        return net(x).pow(2).mean() + 0.1 * penalty

    return objective


torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
objective = objective_of(net)
for _ in range(4):
    opt.zero_grad()
    objective(torch.randn(5, 2)).backward()
    opt.step()
"""),
        Example("""\
! the loop looks at the values too, so they are computed in both places
! unsafe: the optimizer takes other steps where each call computes the loss anew
import torch

torch.manual_seed(0)
x = torch.randn(8, 2)
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)


def closure():
    opt.zero_grad()
+    out = net(x)
+    loss = (out - 1).pow(2).mean()
+    loss += 0.01 * out.abs().mean()
    loss.backward()
    return loss


for _ in range(3):
    out = net(x)
    loss = (out - 1).pow(2).mean()
    loss += 0.01 * out.abs().mean()
    opt.step(closure)
    print(loss.item())
"""),
        Example("""\
! what a sum begins with stands where it began
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.LBFGS(net.parameters(), max_iter=4)
out, total = net(torch.ones(3, 2)).exp(), 0.0


def closure():
    total.backward()
    return total


total += out.sum()
opt.step(closure)
"""),
        Example("""\
! both backwards stand beside each other: there is no loop to compute it in
import torch

w = torch.ones(3, requires_grad=True)
h = torch.sigmoid(w)
h.sum().backward()
h.prod().backward()
"""),
        Example("""\
! one of the names is bound again in the loop
import torch

w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
first, second = w.exp(), w.sin()
for _ in range(3):
    opt.zero_grad()
    (first * second).sum().backward()
    opt.step()
    second = w.sin() + first
"""),
        Example("""\
! unsafe: what is made once of data may also be meant to stay as it was
import torch


class Heat:
    def __init__(self):
        self.net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1, bias=False))
        self.x = torch.rand(6, 1, requires_grad=True)
        self.u = self.net(self.x)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def loss(self):
+        self.u = self.net(self.x)
        u_x = torch.autograd.grad(self.u.sum(), self.x, create_graph=True)[0]
        return (u_x - self.u).pow(2).mean() + (self.net(torch.zeros(1, 1)) - 1).pow(2).sum()

    def train(self):
        for _ in range(4):
            self.opt.zero_grad()
            self.loss().backward(retain_graph=True)
            self.opt.step()


torch.manual_seed(0)
Heat().train()
"""),
        Example("""\
! unsafe: the code describes other gradients: those of what was computed once
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 2)
seeds = torch.nn.Parameter(torch.randn(3, 2))
opt = torch.optim.SGD([*net.parameters(), seeds], lr=0.1)
for _ in range(2):
-    mean, spread = net(seeds).tanh().chunk(2, 1)
    for x in torch.randn(3, 5, 2):
+        mean, spread = net(seeds).tanh().chunk(2, 1)
        loss = (net(x).mean() - mean).pow(2).sum() + (spread - 1).pow(2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""),
    )

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each shared tensor that was made outside the function or loop that uses it."""
        seen = set()
        crossings = [one for one in diagnosis.trace.crossings if one.by == "failing"]
        # Where no boundary was crossed, the failing backward starts at what was made once: all of its graph was.
        stacks = [one.made for one in crossings or diagnosis.trace.saved]
        yield from self._all_made(diagnosis, sources, stacks, whole=not crossings)
        for crossing in diagnosis.trace.crossings:
            for frame, source, node in sources.located(crossing.made):
                statement = source.statement(node)
                if crossing.by != "failing" or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                    continue
                key = (frame.file, frame.line)
                if key in seen or not names.targets(statement.targets[0]):
                    continue
                seen.add(key)
                yield from self._into_loop(frame, source, statement, diagnosis)
                beside = (one.used for one in diagnosis.trace.crossings if one.made[:1] == crossing.made[:1])
                for used in dict.fromkeys((crossing.used, *beside)):
                    yield from self._into_closure(statement, source, used, sources)
                    yield from self._into_method(statement, source, used, sources, crossing.carriers)

    def _into_loop(
        self, frame: Frame, source: Source, statement: ast.Assign, diagnosis: Diagnosis
    ) -> Iterator[Proposal]:  # fmt: skip
        target, bound = ast.unparse(statement.targets[0]), names.targets(statement.targets[0])
        block = blocks.block_of(source, statement)
        failing = [f.line for f in diagnosis.failure.stack if (f.file, f.function) == (frame.file, frame.function)]
        for later in block[block.index(statement) + 1 :]:
            inside = isinstance(later, (ast.For, ast.While)) and any(
                later.body[0].lineno <= line <= (later.end_lineno or 0) for line in failing
            )
            if inside and isinstance(later, (ast.For, ast.While)):
                if not names.binds_any(later, bound):
                    yield self.propose(move_before(source, [statement], later.body[0]), WHY.format(path=target))
                return
            if any(names.reads_path(later, name) for name in bound):
                break
        yield from self._copied(source, statement, failing)

    def _all_made(
        self, diagnosis: Diagnosis, sources: Sources, stacks: Sequence[Stack], *, whole: bool
    ) -> Iterator[Proposal]:  # fmt: skip
        """All statements that a graph comes from, at the place where a function or loop begins to use their values."""
        made: dict[ast.Assign, tuple[Source, Frame]] = {}
        for frame, source, node in (one for stack in stacks for one in sources.located(stack)):
            statement = source.statement(node)
            if isinstance(statement, ast.Assign):
                made.setdefault(statement, (source, frame))
        ordered = sorted(made, key=lambda one: one.lineno)
        for statement in ordered:
            source, frame = made[statement]
            user = _user(source, statement, frame, diagnosis, whole=whole)
            if user is not None and (edits := computed_in(source, statement, ordered, user)):
                made_names = ", ".join(dict.fromkeys(ast.unparse(one.targets[0]) for one in ordered))
                closure = isinstance(user, ast.FunctionDef)
                yield self.propose(edits, (WHY_CLOSURE if closure else WHY).format(path=made_names))
                return

    def _copied(self, source: Source, statement: ast.Assign, failing: list[int]) -> Iterator[Proposal]:
        """Where it cannot move, because it is used before too, it is repeated at the start of the later loop."""
        target, bound = ast.unparse(statement.targets[0]), names.targets(statement.targets[0])
        text = f"{target} = {source.segment(statement.value)}"
        for loop in ast.walk(source.tree):
            if not isinstance(loop, (ast.For, ast.While)) or loop.lineno < statement.lineno or "\n" in text:
                continue
            inside = any(loop.body[0].lineno <= line <= (loop.end_lineno or 0) for line in failing)
            here = source.function(loop) is source.function(statement)
            if inside and here and not names.binds_any(loop, bound):
                edits = insert_before(source, loop.body[0], [text])
                yield self.propose(edits, WHY.format(path=target), later=2)

    def _into_closure(
        self, statement: ast.Assign, source: Source, used: Stack, sources: Sources
    ) -> Iterator[Proposal]:  # fmt: skip
        """Into the function that uses it, where that was defined beside it and is called in each pass."""
        maker, bound = source.function(statement), names.targets(statement.targets[0])
        for _, where, node in sources.located(used):
            user = where.function(node)
            if maker is None or user is None or where is not source or source.function(user) is not maker:
                continue
            read = names.reads(statement)
            own = {one.arg for one in ast.walk(user.args) if isinstance(one, ast.arg)} | names.binds(user)
            reader = next((one for one in user.body if names.meets(bound, names.reads(one))), None)
            if reader is None or names.meets(own, {*read, *bound}):
                continue
            inside = {id(one) for part in (user, statement) for one in ast.walk(part)}
            others = (n for n in ast.walk(maker) if isinstance(n, ast.Name) and n.id in bound and id(n) not in inside)
            if any(True for _ in others):
                edits = insert_before(source, reader, names.copied(source, statement))
            else:
                edits = move_before(source, [statement], reader)
            why = WHY_CLOSURE.format(path=ast.unparse(statement.targets[0]))
            yield self.propose(edits, why, title="Compute it anew in each call")
            return

    def _into_method(
        self, statement: ast.Assign, source: Source, used: Stack, sources: Sources, carriers: tuple[Carrier, ...]
    ) -> Iterator[Proposal]:  # fmt: skip
        target = ast.unparse(statement.targets[0])
        if not target.startswith("self.") or (carriers and not any(carrier.path == target for carrier in carriers)):
            return
        maker = source.function(statement)
        if maker is None or names.locals_read(maker, statement.value) - {"self"}:
            return
        for _, where, node in sources.located(used):
            method = where.function(node)
            if where.path != source.path or method is None or method is maker or not names.reads_path(method, target):
                continue
            first = next(s for s in method.body if names.reads_path(s, target))
            text = f"{target} = {source.segment(statement.value)}"
            if "\n" not in text:
                yield self.propose(insert_before(where, first, [text]), WHY.format(path=target))
            return


def _user(
    source: Source, statement: ast.stmt, frame: Frame, diagnosis: Diagnosis, *, whole: bool
) -> ast.FunctionDef | ast.For | ast.While | None:  # fmt: skip
    """The function (an optimizer's closure) or the loop in which the failing call was made, in a statement's scope."""
    scope = source.function(statement)
    for node in ast.walk(scope or source.tree):
        if isinstance(node, ast.FunctionDef) and node is not scope and _fails_in(node, frame.file, diagnosis):
            arguments = any(isinstance(one, ast.arg) for one in ast.walk(node.args))
            return node if source.function(node) is scope and not arguments else None
    block = blocks.block_of(source, statement)
    failing = [f.line for f in diagnosis.failure.stack if (f.file, f.function) == (frame.file, frame.function)]
    loops = (one for one in block[block.index(statement) + 1 :] if isinstance(one, (ast.For, ast.While)))
    return next((one for one in loops if whole and any(one.lineno < n <= (one.end_lineno or 0) for n in failing)), None)


def _fails_in(function: ast.FunctionDef, file: str, diagnosis: Diagnosis) -> bool:
    """Whether the failing call was made while a function ran."""
    inside = (function.lineno, function.end_lineno or function.lineno)
    return any(f.file == file and inside[0] < f.line <= inside[1] for f in diagnosis.failure.stack)
