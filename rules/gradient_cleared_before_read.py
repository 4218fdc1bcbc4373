"""Gradient that is cleared before it is read

## What it does
Moves the `zero_grad()` that runs between a backward and the reader of its gradients: in front of that backward, or
behind the reader where both stand in one block.

## Why autograd fails
`zero_grad()` sets gradients to None. Who reads them behind it, such as a callback at the end of a batch, finds None.

## Fix safety
Safe where what is read has always been cleared since its backward, pass for pass, and the run with what that backward
left trains otherwise. In all else the code says that there is no gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.core.edit import Declined
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks
from autofix.syntax.calls import method
from autofix.syntax.edits import move_after, move_before

WHY = "Gradients are cleared right before the backward that makes new ones; until then all that runs can read them."
WHY_LATER = "Gradients are cleared when nothing reads them any more."


class GradientClearedBeforeRead(Rule):
    code, name = "AG311", "gradient-cleared-before-read"
    title = "Clear the gradients before the backward that makes new ones"
    causes = frozenset({Cause.GRADIENT_NONE})
    tier = Tier.ORDER
    examples = Example.each("""\
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
! a callback reads the gradient of the batch
def train_step(x):
    loss = net(x).square().mean()
+    opt.zero_grad()
    loss.backward()
    opt.step()
-    opt.zero_grad()
    return loss.item()

def on_batch_end():
    with torch.no_grad():
        rows = net.weight.grad.abs().sum(1)
        net.weight[rows.argmax()] *= 0.5

for _ in range(4):
    train_step(torch.randn(5, 3))
    on_batch_end()
! unsafe: several backwards are summed up, and nothing depends on the norm
for _ in range(4):
+    opt.zero_grad()  # for the next one
    net(torch.randn(5, 3)).square().mean().backward()
    net(torch.randn(5, 3)).exp().mean().backward()
    opt.step()
-    opt.zero_grad()  # for the next one
    norm = net.weight.grad.norm()
! the gradient is read for the next rate
for x in torch.randn(4, 5, 3):
    loss = net(x).square().mean()
+    opt.zero_grad()
    loss.backward()
    opt.step()
-    opt.zero_grad()
    opt.param_groups[0]["lr"] = 0.1 / (1 + net.weight.grad.abs().max().item())
! there was no backward yet
opt.zero_grad()
norm = net.weight.grad.norm()
net(torch.randn(5, 3)).square().mean().backward()
! nothing is cleared behind the backward: the loss has no part of it
other = torch.ones(3, requires_grad=True)
for _ in range(4):
    train: net(torch.randn(5, 3)).square().mean()
    norm = other.grad.norm()
! gradients of several batches are added up, and cleared now and then
for number in range(4):
    net(torch.randn(5, 3)).square().mean().backward()
    if number % 2:
        opt.step()
        opt.zero_grad()
    norm = net.weight.grad.norm()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Of each block in which a backward runs, itself or by a call, and `zero_grad` behind it."""
        ran: dict[ast.stmt, Source] = {}
        for call in (one for one in diagnosis.trace.earlier if not one.grad):
            ran |= {source.statement(node): source for _, source, node in sources.nodes(call.stack)}
        seen: set[ast.stmt] = set()
        for statement, source in ran.items():
            block = blocks.block_of(source, statement)
            clear = next((one for one in blocks.after(block, statement) if method(one) == "zero_grad"), None)
            if clear is None or clear in seen:
                continue
            seen.add(clear)
            before = blocks.before(block, clear)
            if any(method(one) == "zero_grad" for one in before):
                raise Declined("the gradients are cleared before the backward, too")
            yield self.propose(move_before(source, [clear], next(one for one in before if one in ran)), WHY)
            for reader in blocks.after(block, clear):
                if blocks.passed(source, reader, diagnosis.failure.stack):
                    title = "Clear the gradients after they are read"
                    yield self.propose(move_after(source, [clear], reader), WHY_LATER, later=1, title=title)
