"""Records that are emptied in some passes alone.

## What it does
Empties them in each pass: what does so moves out of the condition that decides whether the weights are stepped.

## Why autograd fails
A forward fills a list (a bank of features, what hooks saw), and the loop empties it where it steps, once for several
batches whose gradients are summed up. The batches between find what those before left, whose graph is freed by then.

## Fix safety
Not safe by itself: with fewer records the loss is another one. Usually each batch of such a sum stands alone. Declines
where the condition asks for the records themselves, as a memory does that is emptied when it is full.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from autofix.search.rule import (
    Applicability,
    Cause,
    Declined,
    Diagnosis,
    Example,
    Proposal,
    Rule,
    Source,
    Sources,
    Tier,
)
from autofix.syntax import blocks, names, nested
from autofix.syntax.calls import name_of, path_of
from autofix.syntax.edits import move_after

WHY = "Each iteration ends with empty records, so that the next one uses only what it computed itself."


class RecordsEmptiedTooRarely(Rule):
    code, name = "AG220", "records-emptied-too-rarely"
    title = "Empty the records in each iteration"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.EMPTY
    applicability = Applicability.UNSAFE
    conventional = True
    examples = Example.each("""\
! unsafe: a list that a forward fills may be meant for several batches
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.seen = torch.nn.Linear(2, 2), []

    def forward(self, x):
        self.seen.append(self.layer(x).tanh())
        return torch.stack(self.seen).mean(0)


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    loss = net(torch.randn(4, 2)).pow(2).mean()
    loss.backward()
    if step % 2 == 1:
        opt.step()
        opt.zero_grad()
-        net.seen.clear()
+    net.seen.clear()
! unsafe: by a method, of a bank that one network fills for another
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.bank = torch.nn.Linear(2, 2), []

    def forward(self, x):
        self.bank.append(self.layer(x).tanh())
        return sum(self.bank)


class Writer:
    def __init__(self, block):
        self.block = block

    def clear(self):
        self.block.bank = []


block, head = Block(), torch.nn.Linear(2, 1)
writer = Writer(block)
opt = torch.optim.SGD([*block.parameters(), *head.parameters()], lr=0.1)
for step in range(6):
    head(block(torch.randn(4, 2))).pow(2).mean().backward()
    if (step + 1) % 3 == 0:
        opt.step()
-        writer.clear()
        opt.zero_grad()
+    writer.clear()
! unsafe: what hooks saw
net, seen = torch.nn.Linear(2, 2), {}
net.register_forward_hook(lambda module, given, out: seen.setdefault("out", []).append(out.tanh()))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    net(torch.randn(4, 2))
    sum(seen["out"]).pow(2).mean().backward()
    if step % 2:
        opt.step()
        opt.zero_grad()
-        seen = {}
+    seen = {}
! a memory is emptied when it is full
net, memory = torch.nn.Linear(2, 2), []
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    memory.append(net(torch.randn(2)).tanh())
    train: torch.stack(memory).pow(2).mean()
    if len(memory) > 2:
        memory.clear()
! what stands under the condition empties something else
net, memory, losses = torch.nn.Linear(2, 2), [], []
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    memory.append(net(torch.randn(2)).tanh())
    loss = torch.stack(memory).pow(2).mean()
    loss.backward()
    losses.append(loss.item())
    if step % 2:
        opt.step()
        opt.zero_grad()
        losses.clear()
! it is emptied before the passes of an epoch
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    if epoch < 2:
        memory = []
    for _ in range(2):
        memory.append(net(torch.randn(2)).tanh())
        torch.stack(memory).pow(2).mean().backward()
    opt.step()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each condition behind the backward, in the innermost loop around it, under which they are emptied."""
        carriers = [carrier for one in diagnosis.crossed for carrier in one.carriers]
        records = {one.path.rpartition(".")[2] for one in carriers if nested.is_container(one.kind)}
        files = sources.reached(diagnosis.failure.stack)
        for _, source, node in sources.nodes(diagnosis.failure.stack):
            for holder in blocks.holders(source, node):
                for behind in blocks.after(blocks.block_of(source, holder), holder):
                    if not isinstance(behind, ast.If) or behind.orelse:
                        continue
                    if emptying := [one for one in behind.body if _empties(one, records, files)]:
                        if records & {path.rpartition(".")[2] for path in names.reads(behind.test)}:
                            raise Declined("the condition asks for the records themselves")
                        yield self.propose(move_after(source, emptying, behind), WHY)
                if isinstance(source.parent(holder), (ast.For, ast.AsyncFor, ast.While)):
                    return


def _empties(statement: ast.stmt, records: Collection[str], files: Iterable[Source]) -> bool:
    """Whether a statement empties one of some records, itself or by a method that does."""
    if _leaves_empty(statement, records):
        return True
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(attr=method))):
            functions = (
                one for source in files for one in source.mentioning(method) if isinstance(one, ast.FunctionDef)
            )
            inside = (node for one in functions if one.name == method for node in ast.walk(one))
            return any(isinstance(node, ast.stmt) and _leaves_empty(node, records) for node in inside)
    return False


def _leaves_empty(statement: ast.stmt, records: Collection[str]) -> bool:
    match statement:
        case ast.Assign(targets, value) if _is_new(value):
            return any(path_of(one).rpartition(".")[2] in records for one in targets)
        case ast.Expr(ast.Call(ast.Attribute(held, "clear"), [], [])):
            return path_of(held).rpartition(".")[2] in records
    return False


def _is_new(value: ast.expr) -> bool:
    """Whether a value is an empty container."""
    if isinstance(value, ast.Call):
        return name_of(value) in ("list", "dict", "deque") and not value.args
    return (isinstance(value, ast.List) and not value.elts) or (isinstance(value, ast.Dict) and not value.keys)
