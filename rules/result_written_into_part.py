"""A result written into a part of a parameter, as into some rows of a table of embeddings.

## What it does
Writes to a copy of the parameter, and calls the module with that by `torch.func.functional_call`.

## Why autograd fails
A parameter is a leaf, which has no graph. A write to it in place is refused: the result would have no place in one.

## Fix safety
Never safe: the parameter itself is no longer written, which something else may read.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names, writes
from autofix.syntax.edits import Step, append_call, ensure_import, functional_call, insert_before, replace

WHY = "The module computes with the results themselves, which keep their graph."


class ResultWrittenIntoPart(Rule):
    code, name = "AG322", "result-written-into-part"
    title = "Call the module with what is written into it"
    causes = frozenset({Cause.LEAF_MODIFIED})
    tier = Tier.MEANT
    examples = Example.each("""\
! unsafe: rows of a table, which keeps them for whoever else reads it
class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = torch.nn.Embedding(6, 3), torch.nn.Linear(3, 1)

    def forward(self, ids):
        return self.out(self.table(ids))


net, rows = Encoder(), torch.nn.Linear(2, 3)
opt = torch.optim.SGD(rows.parameters(), lr=0.1)
for _ in range(4):
-    table = net.table.weight
+    table = net.table.weight.clone()
    table[4:] = rows(torch.ones(2, 2))
-    train: net(torch.arange(6)).pow(2).mean()
+    train: torch.func.functional_call(net, {"table.weight": table}, (torch.arange(6),)).pow(2).mean()
! unsafe: without a second name
net, scale = torch.nn.Linear(3, 1), torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([scale], lr=0.1)
for _ in range(4):
-    net.weight[0] = scale.tanh()
-    train: net(torch.ones(4, 3)).pow(2).mean()
+    weight = net.weight.clone()
+    weight[0] = scale.tanh()
+    train: torch.func.functional_call(net, {"weight": weight}, (torch.ones(4, 3),)).pow(2).mean()
! unsafe: the parameter of a part of the module
net, shift = torch.nn.Module(), torch.nn.Parameter(torch.ones(1))
net.out, opt = torch.nn.Linear(3, 1), torch.optim.SGD([shift], lr=0.1)
for _ in range(4):
-    net.out.bias[:] = shift.exp()
-    train: net.out(torch.ones(4, 3)).pow(2).mean()
+    bias = net.out.bias.clone()
+    bias[:] = shift.exp()
+    train: torch.func.functional_call(net.out, {"bias": bias}, (torch.ones(4, 3),)).pow(2).mean()
! a tensor that belongs to no module which is called there
w, v = torch.zeros(3, requires_grad=True), torch.ones(2, requires_grad=True)
w[:2] = v.exp()
w.sum().backward()
! the values are set once, before the module is used
net = torch.nn.Linear(3, 1)
net.weight.fill_(0.1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    train: net(torch.ones(4, 3)).pow(2).mean()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At the write that was refused."""
        for source, node in sources.innermost([diagnosis.failure.stack]):
            yield self.propose(_in_part(source, node), WHY)


def _in_part(source: Source, node: ast.AST) -> list[Step]:
    """The write to a copy of the parameter, with which its module is called behind it."""
    statement, written = source.statement(node), writes.written(source, node)
    alias = next((one for one in names.assignments(source, written) if _is_second_name(source, one, node)), None)
    path = calls.path_of(alias.value) if alias is not None and alias.value is not None else written
    if alias is not None and alias.value is not None:
        copy, edits = written, append_call(source, alias.value, ".clone()")
    else:
        copy = names.unused(source, path.rpartition(".")[2])
        found = next((one for one in ast.walk(statement) if calls.path_of(one) == path), None)
        if "." not in path or not isinstance(found, ast.expr):
            raise Declined("what is written is no parameter of a module")
        edits = [*insert_before(source, statement, [f"{copy} = {path}.clone()"]), *replace(source, found, copy)]
    torch, imports = ensure_import(source, "torch")
    parts = path.split(".")
    for count in range(len(parts) - 1, 0, -1):
        module, name = ".".join(parts[:count]), ".".join(parts[count:])
        if same_block := [
            one for one in calls.evaluations(source, module, statement) if _follows(source, statement, one)
        ]:
            weights = f'{{"{name}": {copy}}}'
            return [*edits, *imports, *(s for one in same_block for s in functional_call(source, one, torch, weights))]
    raise Declined(f"no module of {path} is called behind the write")


def _is_second_name(source: Source, made: ast.Assign | ast.AnnAssign | ast.AugAssign, node: ast.AST) -> bool:
    """Whether the function of a write makes the name written a second one of an attribute."""
    return isinstance(made.value, ast.Attribute) and source.function(made) is source.function(node)


def _follows(source: Source, statement: ast.stmt, call: ast.Call) -> bool:
    """Whether a call is made in the block of a statement, in the same pass of all loops."""
    return any(one is statement for one in blocks.block_of(source, source.statement(call)))
