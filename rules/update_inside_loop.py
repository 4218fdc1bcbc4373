"""Part of an update that stands in the loop over what its loss is summed of.

## What it does
Moves the backward behind the loop where the loop, or a call in it, adds up the loss; or the step behind it, and
`zero_grad` before it, where the loop goes through what was computed before.

## Why autograd fails
Each pass of the loop goes backward through all that was added before, whose graph an earlier pass has freed; or a step
changes parameters that later terms were computed with.

## Fix safety
Safe where the run shows that each term of the sum is then trained once, and all else is the same. An edit that moves
the step is never safe: only the place of the forward suggests that one step is meant for all passes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.probe.wire import Frame, Stack
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import move_after, move_before

Loop = ast.For | ast.While

WHY_TOTAL = "The loss is summed first; its backward then goes through the graph of each iteration once."
WHY_TERMS = "All terms are differentiated at the parameters that they were computed with, and make one step together."


class UpdateInsideLoop(Rule):
    code, name = "AG208", "update-inside-loop"
    title = "Go backward once, after the loop"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.ORDER
    examples = Example.each("""\
! a loss that a loop adds up
cell, head = torch.nn.GRUCell(2, 3), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    state, loss = torch.zeros(1, 3), 0
    opt.zero_grad()
    for x in torch.randn(4, 1, 2):
        state = cell(x, state)
        loss += head(state).pow(2).sum()
-        loss.backward()
+    loss.backward()
    opt.step()
! a meter adds it up
class Meter:
    def __init__(self):
        self.sums = {"loss": 0.0}

    def add(self, name, value):
        self.sums[name] = self.sums[name] + value
        return self.sums[name]


body, heads = torch.nn.Linear(2, 3), [torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)]
opt = torch.optim.SGD([p for part in (body, *heads) for p in part.parameters()], lr=0.1)
for _ in range(4):
    meter = Meter()
    opt.zero_grad()
    for head in heads:
        total = meter.add("loss", (head(body(torch.randn(5, 2)).tanh()) - 1).pow(2).mean())
-        total.backward()
+    total.backward()
    opt.step()
! each pass of the loop steps by what a meter adds up
class Meter:
    def __init__(self):
        self.sum = 0.0

    def add(self, value):
        self.sum = self.sum + value
        return self.sum


net, meter = torch.nn.Linear(2, 1), Meter()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    for x in torch.randn(3, 5, 2):
        opt.zero_grad()
        total = meter.add((net(x) - 1).pow(2).mean())
        total.backward()
        opt.step()
! unsafe: the code as it stands steps for each reward
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def learn(kept):
    total = 0.0
+    opt.zero_grad()
    for reward, value in kept:
        total = reward + 0.9 * total
-        opt.zero_grad()
        (value - total).pow(2).mean().backward()
-        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
-        opt.step()
+    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
+    opt.step()


for _ in range(3):
    learn([(float(i), net(torch.randn(1, 2))) for i in range(3)])
! the update of each pass is whole: nothing stands outside of the loop
cell = torch.nn.RNNCell(2, 3)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
state, loss = torch.zeros(1, 3), 0
for x in torch.randn(4, 1, 2):
    state = cell(x, state)
    loss += state.pow(2).sum()
    train: loss
! the sum alone comes from earlier passes: to cut it there is enough
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = 0
    opt.zero_grad()
    for x in torch.randn(4, 2):
        loss += net(x).pow(2).sum()
        loss.backward()
    opt.step()
! the forward is in sight and can be made again
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.ones(4, 2))
for target in (0.0, 1.0):
    opt.zero_grad()
    (out - target).pow(2).mean().backward(retain_graph=True)
    opt.step()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """In the innermost loop around the failing backward."""
        for _, source, node in sources.located(diagnosis.failure.stack[:1]):
            loop = next(blocks.loops(source, node), None)
            statement = source.statement(node)
            if loop is None or not isinstance(statement, ast.Expr) or statement not in loop.body or loop.orelse:
                continue
            if diagnosis.cause is Cause.FREED_GRAPH:
                yield from self._total(source, loop, statement, diagnosis, sources)
            else:
                yield from self._terms(source, loop, sources, diagnosis)

    def _total(
        self, source: Source, loop: Loop, statement: ast.Expr, diagnosis: Diagnosis, sources: Sources
    ) -> Iterator[Proposal]:  # fmt: skip
        """The backward of a sum that the loop adds up, behind the loop that has no other part of the update."""
        total = calls.path_of(calls.started(statement.value))
        called = (list(sources.nodes(one.made)) for one in diagnosis.crossed)
        kept = total and any(_adds_in_call(source, loop, total, made) for made in called)
        added = kept or any(calls.path_of(target) == total for one in loop.body if (target := _added_to(one)))
        if not total or not added or any(calls.method(one) in ("step", "zero_grad") for one in loop.body):
            return
        here = diagnosis.failure.stack[0].function
        others = (one for one in diagnosis.crossed if total not in {c.path for c in one.carriers if c.function == here})
        if kept or (_bound_before(source, loop, total) and any(others)):
            yield self.propose(move_after(source, [statement], loop), WHY_TOTAL)

    def _terms(self, source: Source, loop: Loop, sources: Sources, diagnosis: Diagnosis) -> Iterator[Proposal]:
        """The step behind the loop, and what empties gradients before it; of terms that were computed elsewhere."""
        steps = [one for one in loop.body if calls.method(one) == "step"]
        empties = [one for one in loop.body if calls.method(one) == "zero_grad"]
        saved = diagnosis.trace.saved
        written = any(write.optimizer >= 0 for one in saved for write in one.writes)
        if len(steps) != 1 or len(empties) > 1 or not written or len(diagnosis.trace.counts) > 1:
            return
        if any(not _elsewhere(one.made, source, loop, sources) for one in saved):
            return
        moved = [edit for one in empties for edit in move_before(source, [one], loop)]
        moved += move_after(source, blocks.with_clipping(loop.body, steps[0]), loop)
        yield self.propose(moved, WHY_TERMS, title="Step once, after the loop", later=1)


def _added_to(statement: ast.stmt) -> ast.expr | None:
    """What a statement adds to."""
    match statement:
        case ast.AugAssign(target=target, op=ast.Add()):
            return target
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=ast.Add(), right=right)):
            return target if ast.unparse(target) in map(ast.unparse, (left, right)) else None
    return None


def _adds_in_call(source: Source, loop: Loop, total: str, made: Sequence[tuple[Frame, Source, ast.AST]]) -> bool:
    """Whether what binds a variable in a loop is a call that adds to what an object keeps, and gives the sum."""
    if not made or not isinstance(_added_to(made[0][1].statement(made[0][2])), (ast.Attribute, ast.Subscript)):
        return False
    outer = (one.statement(node) for _, one, node in made[1:] if one is source)
    return any(one in loop.body and total in names.binds(one) for one in outer)


def _bound_before(source: Source, loop: Loop, total: str) -> bool:
    """Whether a variable is bound beside a loop, before it."""
    return any(total in names.binds(one) for one in blocks.before(blocks.block_of(source, loop), loop))


def _elsewhere(made: Stack, source: Source, loop: Loop, sources: Sources) -> bool:
    """Whether something was made where it cannot simply be made again: in another function or another loop."""
    here = str(source.path), blocks.qualified(source, loop)
    within = [(one, node) for frame, one, node in sources.nodes(made) if (frame.file, frame.function) == here]
    shared = {loop, *blocks.loops(source, loop)}
    return all(set(blocks.loops(one, node)) - shared for one, node in within)
