"""One loss that goes backward twice, by two functions of which each takes it for its own task.

## What it does
Leaves out one of the two calls: the later one, or the earlier one.

## Why autograd fails
The first call has freed the graph. A criterion that goes backward itself, and a trainer that does so with every loss,
are each right alone.

## Fix safety
Not safe by itself: with `retain_graph=True` the loss would count twice, as the code says. One of the calls is usually
one too many, and both edits train the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import dropwhile

from autofix.probe.wire import Frame
from autofix.search.rule import Applicability, Cause, Declined, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax.edits import delete

WHY = "The loss goes backward once, before the step that uses what it sent."


class LossBackwardTwice(Rule):
    code, name = "AG439", "loss-backward-twice"
    title = "Leave out the second backward of this loss"
    causes = frozenset({Cause.FREED_GRAPH})
    tier = Tier.MEANT
    applicability = Applicability.UNSAFE
    conventional = True
    examples = Example.each("""\
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
! unsafe: twice the gradient is what the code says; the criterion goes backward, and the trainer does
def criterion(x):
    loss = (net(x) - 1).pow(2).mean()
    loss.backward()
    return loss


for x in torch.randn(4, 5, 3):
    opt.zero_grad()
    loss = criterion(x)
-    loss.backward()
    opt.step()
! unsafe: as before; both by one helper, and the later call stands alone in a block
class Engine:
    def backward(self, loss):
        loss.backward()


engine = Engine()


def criterion(x):
    loss = (net(x) - 1).pow(2).mean()
    engine.backward(loss)
    return loss


for x in torch.randn(4, 5, 3):
    opt.zero_grad()
    loss = criterion(x)
-    with torch.autograd.profiler.record_function("backward"):
-        engine.backward(loss)
    opt.step()
! unsafe: as before; only the earlier call is a statement of its own
def criterion(x):
    loss = (net(x) - 1).pow(2).mean()
-    loss.backward()
    return loss


for x in torch.randn(4, 5, 3):
    opt.zero_grad()
    loss = criterion(x)
    _ = loss.backward()
    opt.step()
! each optimizer has a backward of its own
opts = [opt, torch.optim.SGD([net.bias], lr=0.1)]
for x in torch.randn(4, 5, 3):
    loss = (net(x) - 1).pow(2).mean()
    for one in opts:
        one.zero_grad()
        loss.backward()
        one.step()
! one call in a loop
for x in torch.randn(4, 5, 3):
    loss = (net(x) - 1).pow(2).mean()
    opt.zero_grad()
    for _ in range(2):
        loss.backward()
    opt.step()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where the two calls part: below that one function may make both."""
        for fact in diagnosis.trace.seen("went-before"):
            pairs = zip(diagnosis.failure.stack, fact.stack, strict=False)
            parted = next(dropwhile(lambda pair: pair[0] == pair[1], pairs), None)
            if parted is None:
                raise Declined("one call of a loop goes backward each time")
            yield from self._left_out(parted[0], sources, self.title, 0)
            yield from self._left_out(parted[1], sources, "Leave out the first backward of this loss", 1)

    def _left_out(self, frame: Frame, sources: Sources, title: str, later: int) -> Iterator[Proposal]:
        for _, source, node in sources.nodes((frame,)):
            statement: ast.stmt = source.statement(node)
            around = source.parent(statement)
            if not isinstance(statement, ast.Expr):
                return
            if isinstance(around, ast.With) and len(around.body) == 1:
                statement = around
            yield self.propose(delete(source, statement), WHY, title=title, later=later)
