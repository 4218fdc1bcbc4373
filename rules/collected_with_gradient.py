"""Values that are collected once and trained on in several passes, with the graph of the network that made them.

## What it does
Collects them under `torch.no_grad()`: a block around the statements that collect, or a decorator on the function that
does: rollouts, targets, old log-probabilities, pseudo-labels, features.

## Why autograd fails
The first backward frees the graph in which the values were made; the second pass over the same values finds it empty.
Kept with `retain_graph=True`, that graph would describe parameters that the first step has already changed.

## Fix safety
Without gradient, what was collected is a constant for every pass alike. Safe only where the run shows that everything
owned still learns and that no other reading of the program holds.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.core.edit import Declined
from autofix.core.model import Cause, Diagnosis
from autofix.diagnosis.scenes import turn
from autofix.search.rule import Example, Proposal, Rule, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import decorate, ensure_import, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.diagnosis.scenes import Turn
    from autofix.probe.wire import Frame, Stack
    from autofix.syntax.edits import Step
    from autofix.syntax.source import Source

WHY = "What is collected here is a constant of every pass that trains on it."
WHY_TARGET = "A target is a constant of every loss that is held against it."
_TWO = 2


class CollectedWithGradient(Rule):
    """Collect without gradient what several passes train on."""

    code, name = "AG206", "collected-with-gradient"
    title = "Collect it under torch.no_grad()"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.ANSWER
    examples = (
        Example("""\
! unsafe: the code describes a loss that trains what made the values, too
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for _ in range(2):
    state, states, actions, old = torch.randn(2), [], [], []
-    for _ in range(6):
-        policy = torch.distributions.Categorical(logits=net(state))
-        action = policy.sample()
-        states.append(state)
-        actions.append(action)
-        old.append(policy.log_prob(action))
-        state = 0.5 * state + action - 1
-    old = torch.stack(old)
+    with torch.no_grad():
+        for _ in range(6):
+            policy = torch.distributions.Categorical(logits=net(state))
+            action = policy.sample()
+            states.append(state)
+            actions.append(action)
+            old.append(policy.log_prob(action))
+            state = 0.5 * state + action - 1
+        old = torch.stack(old)
    obs, taken = torch.stack(states), torch.stack(actions)
    gain = -obs.pow(2).sum(1)
    for _ in range(3):
        ratio = (torch.distributions.Categorical(logits=net(obs)).log_prob(taken) - old).exp()
        loss = -(ratio * (gain - gain.mean())).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""),
        Example("""\
! the file decorates already
! unsafe: the code describes a loss that trains what made the labels, too
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.no_grad()
def accuracy(x, y):
    return (net(x).argmax(1) == y).float().mean()


+@torch.no_grad()
def labels(x, sharpen=2.0):
    p = net(x).softmax(1) ** sharpen
    return p / p.sum(1, keepdim=True)


for _ in range(3):
    x = torch.randn(10, 4)
    q = labels(x)
    for _ in range(2):
        loss = -(q * net(x + 0.1 * torch.randn(10, 4)).log_softmax(1)).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
print(accuracy(x, x[:, :3].argmax(1)))
"""),
        Example("""\
! one target, two losses with a backward each
! unsafe: the code describes losses that train what made the target, too
import torch
import torch.nn.functional as F

torch.manual_seed(0)
one, two, policy = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
for _ in range(4):
    s, after, r = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 1)
-    nxt = torch.cat([after, policy(after)], 1)
-    target = r + 0.9 * torch.min(one(nxt), two(nxt))
+    with torch.no_grad():
+        nxt = torch.cat([after, policy(after)], 1)
+        target = r + 0.9 * torch.min(one(nxt), two(nxt))
    opt.zero_grad()
    F.mse_loss(one(s), target).backward()
    F.mse_loss(two(s), target).backward()
    opt.step()
"""),
        Example("""\
! the same loss twice: nothing was collected
import torch

w = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
loss.backward()
loss.backward()
"""),
        Example("""\
! a penalty is a term of the loss
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
penalty = sum(p.pow(2).sum() for p in net.parameters())
for _ in range(4):
    loss = net(torch.randn(5, 2)).pow(2).mean() + 0.1 * penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
"""),
        Example("""\
! two losses share features, and both train them
import torch

torch.manual_seed(0)
body, one, two = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*body.parameters(), *one.parameters(), *two.parameters()], lr=0.1)
for _ in range(3):
    features = torch.tanh(body(torch.randn(5, 3)))
    opt.zero_grad()
    one(features).pow(2).mean().backward()
    two(features).exp().mean().backward()
    opt.step()
"""),
        Example("""\
! a hidden state is carried from pass to pass, not collected before them
import torch

torch.manual_seed(0)
cell = torch.nn.GRUCell(2, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(3, 4)
for _ in range(4):
    h = cell(torch.randn(3, 2), h)
    opt.zero_grad()
    h.pow(2).mean().backward()
    opt.step()
"""),
    )

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Around the statements that collect, and on each function through which they do."""
        if _is_term(diagnosis, sources):
            raise Declined("it is a term of the loss, which trains what it is made of")
        places: dict[int, list[tuple[Turn, Stack]]] = {}
        for made in _made(diagnosis):
            place = turn(sources, made, diagnosis.failure.stack)
            if place is not None and place.loop is None and _trained_on(place, diagnosis, sources):
                places.setdefault(id(place.block), []).append((place, made))
        for found in places.values():
            place = found[0][0]
            repeated = _repeats(place, diagnosis, sources)
            refused: Declined | None = None
            decorated = any("no_grad" in ast.unparse(one) for one in _decorators(place.source))
            try:
                edits = _wrapped(place, [one.step for one, _ in found], diagnosis)
                yield self.propose(edits, WHY if repeated else WHY_TARGET, later=1 + decorated)
            except Declined as declined:
                refused = declined
            yield from self._functions(found, diagnosis, sources, later=1 + (not decorated))
            if refused is not None:
                raise refused

    def _functions(
        self, found: list[tuple[Turn, Stack]], diagnosis: Diagnosis, sources: Sources, later: int
    ) -> Iterator[Proposal]:  # fmt: skip
        """A decorator on each function that only collects: no pass that is trained goes through it."""
        trained = [c.used for c in diagnosis.trace.crossings] + _training(diagnosis)
        apart = {(f.file, f.function) for stack in trained for f in stack}
        seen: set[tuple[str, str]] = set()
        for _, made in found:
            for frame in reversed(made):
                key = (frame.file, frame.function)
                function, source = sources.function(frame), sources.source(frame.file)
                if key in apart or key in seen or function is None or source is None or _is_forward(function.name):
                    continue
                seen.add(key)
                torch, imports = ensure_import(source, "torch")
                edits = [*imports, *decorate(source, function, f"@{torch}.no_grad()")]
                title = f"Collect under torch.no_grad(), in {function.name}"
                yield self.propose(edits, WHY, title=title, later=later)


def _made(diagnosis: Diagnosis) -> list[Stack]:
    """Where the graph that is no longer there was made, as far as the trace tells."""
    crossings = (one.made for one in diagnosis.trace.crossings if one.by != "earlier")
    return list(dict.fromkeys(stack for stack in (*crossings, *(s.made for s in diagnosis.trace.saved)) if stack))


def _is_term(diagnosis: Diagnosis, sources: Sources) -> bool:
    """Whether what was made is an addend of the loss: a penalty without gradient would be no penalty."""
    failing = [source.statement(node) for _, source, node in sources.nodes(diagnosis.failure.stack[:1])]
    trained = {name for one in failing for name in names.reads(one)}
    for crossing in diagnosis.trace.crossings:
        for _, source, node in sources.nodes(crossing.used[:1] if crossing.by != "earlier" else ()):
            found: ast.AST | None = node
            while isinstance(found, ast.BinOp) and isinstance(found.op, (ast.Mult, ast.Div)):
                found = source.parent(found)
            added = found if isinstance(found, ast.BinOp) else source.statement(node)
            if not isinstance(added, (ast.BinOp, ast.AugAssign)) or not isinstance(added.op, ast.Add):
                continue
            statement = source.statement(node)
            if (
                isinstance(statement, ast.Return)
                or statement in failing
                or names.meets(names.binds(statement), trained)
            ):
                return True
    return False


def _training(diagnosis: Diagnosis) -> list[Stack]:
    """The stacks of backward calls and of steps."""
    trace = diagnosis.trace
    steps = (write.stack for write in trace.step_sites)
    return [diagnosis.failure.stack, *(one.stack for one in trace.earlier), *steps]


def _trained_on(place: Turn, diagnosis: Diagnosis, sources: Sources) -> bool:
    """Whether several passes, or several losses that take it as their target, come after what is made."""
    if isinstance(place.step, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    called = any(isinstance(one, ast.Call) for one in ast.walk(place.step))
    if not called or _inside(place.source, [place.step], _training(diagnosis)):
        return False
    return _repeats(place, diagnosis, sources) or _is_target(place, diagnosis, sources)


def _repeats(place: Turn, diagnosis: Diagnosis, sources: Sources) -> bool:
    """Whether a loop leads from the block of `place` to the failing backward."""
    if isinstance(place.backward, (ast.For, ast.While)):
        return True
    inner = _deeper(place, diagnosis.failure.stack)
    if any(True for _, source, node in sources.nodes(inner) for _ in blocks.loops(source, node)):
        return True
    around = blocks.loops(place.source, place.call)
    return any(one in list(ast.walk(place.backward)) for one in around)


def _deeper(place: Turn, stack: Stack) -> Stack:
    """The frames of a stack below the one in which the block stands."""
    for depth, frame in enumerate(stack):
        within = place.backward.lineno <= frame.line <= (place.backward.end_lineno or 0)
        if frame.file == str(place.source.path) and within:
            return stack[:depth]
    return ()


def _is_target(place: Turn, diagnosis: Diagnosis, sources: Sources) -> bool:
    """Whether losses of both backwards take what is made as their second argument, as torch's losses do a target."""
    bound = {
        part.id
        for one in place.block[: place.block.index(place.backward)]
        for part in ast.walk(one)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    found: set[str] = set()
    for crossing in diagnosis.trace.crossings:
        for _, _, node in sources.located(crossing.used[:1]):
            if not isinstance(node, ast.Call) or len(node.args) < _TWO:
                return False
            target = calls.path_of(node.args[1])
            if target not in bound or any(calls.path_of(one) == target for one in node.args[:1]):
                return False
            found.add(target)
    return len(found) == 1


def _wrapped(place: Turn, made: list[ast.stmt], diagnosis: Diagnosis) -> list[Step]:
    """The statements from the first to the last that collect, under one header."""
    at = sorted(place.block.index(one) for one in made)
    span = place.block[at[0] : at[-1] + 1]
    used = [one.used for one in diagnosis.trace.crossings if one.by != "earlier"]
    if _inside(place.source, span, [*_training(diagnosis), *used]):
        raise Declined("what collects and what trains stand among each other")
    torch, imports = ensure_import(place.source, "torch")
    return [*imports, *wrap(place.source, span, f"with {torch}.no_grad():")]


def _inside(source: Source, span: list[ast.stmt], stacks: list[Stack]) -> bool:
    """Whether a stack passes through statements."""
    first, last = span[0].lineno, span[-1].end_lineno or 0
    return any(_passes(frame, source, first, last) for stack in stacks for frame in stack)


def _passes(frame: Frame, source: Source, first: int, last: int) -> bool:
    return frame.file == str(source.path) and first <= frame.line <= last


def _decorators(source: Source) -> Iterator[ast.expr]:
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from node.decorator_list


def _is_forward(name: str) -> bool:
    """Whether a function is a module's own computation, which whoever trains it calls too."""
    return name == "forward" or name.startswith("__")
