"""A result with a graph that is put into memory that is given.

## What it does
Takes the result as a new tensor: `work = torch.bmm(a, b)` for `torch.bmm(a, b, out=work)`; what goes into a part of a
tensor is stored there.

## Why autograd fails
`out=` writes into a tensor that exists already. No operation of the graph stands for that, so torch refuses it as soon
as an argument requires a gradient.

## Fix safety
Safe where nothing else reads the memory: another name of it would still show the old values.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step, bind, out_of_place, remove_keyword

WHY = "The result is a tensor of its own, with the graph of what it was computed from."


class ResultIntoGivenMemory(Rule):
    code, name = "AG106", "result-into-given-memory"
    title = "Take the result as a new tensor"
    causes = frozenset({Cause.OUT_REFUSED})
    tier = Tier.MEANT
    usual = "failed", "a result with a graph usually gets a name of its own, not memory that is given by out="
    examples = Example.each("""\
! a workspace that a module keeps
class Bilinear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.fc = torch.nn.Linear(5, 3), torch.nn.Linear(9, 1)
        self.register_buffer("work", torch.empty(4, 3, 3), persistent=False)

    def forward(self, x):
        f = self.lin(x)
-        torch.bmm(f.transpose(1, 2), f, out=self.work)
+        self.work = torch.bmm(f.transpose(1, 2), f)
        return self.fc(self.work.flatten(1))


net = Bilinear()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(4):
    train: net(torch.randn(4, 7, 5)).pow(2).mean()
! the value is used where it is computed
lin, scratch = torch.nn.Linear(4, 4), torch.empty(6, 6)
opt = torch.optim.SGD(lin.parameters(), lr=0.1)
for _ in range(4):
    z = lin(torch.randn(6, 4)).tanh()
-    similar = torch.matmul(z, z.t(), out=scratch)
+    similar = torch.matmul(z, z.t())
    train: torch.nn.functional.cross_entropy(similar, torch.arange(6))
! each into its part
lin = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(lin.parameters(), lr=0.1)
for _ in range(4):
    h, table = lin(torch.randn(3, 4)), torch.zeros(2, 3, 2)
-    torch.sigmoid(h, out=table[0])
+    table[0] = torch.sigmoid(h)
-    torch.tanh(h, out=table[1])
+    table[1] = torch.tanh(h)
    train: table.pow(2).mean()
! where the result goes is chosen by a function, and its value is used by another name
lin, kept = torch.nn.Linear(3, 3), {}
opt = torch.optim.SGD(lin.parameters(), lr=0.1)
for _ in range(4):
    h = lin(torch.ones(2, 3))
-    out = torch.tanh(h, out=kept.setdefault("h", torch.empty(2, 3)))
+    out = torch.tanh(h)
    train: out.pow(2).mean()
! where the result goes is chosen by a function, and it has no other name
def place(n=[]):
    n[:] = n or [torch.empty(3)]
    return n[0]


w = torch.ones(3, requires_grad=True)
torch.exp(w, out=place())
place().sum().backward()
! the memory is handed over among others
w = torch.ones(3, requires_grad=True)
flags = dict(out=torch.empty(3))
torch.exp(w, **flags).sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For the refused call, with those of its block that do the same."""
        for _, source, node in sources.nodes(diagnosis.failure.stack[:1]):
            if not isinstance(node, ast.Call) or calls.keyword(node, "out") is None:
                raise Declined("the call does not say itself where its result is to go")
            every = [
                one for one in source.walk(source.function(node)) if isinstance(one, ast.Call) and _alike(one, node)
            ]
            yield self.propose([step for one in every for step in _taken(source, one)], WHY)


def _alike(one: ast.Call, refused: ast.Call) -> bool:
    """Whether a call puts its result into the memory that the refused one was given."""
    mine, other = calls.keyword(one, "out"), calls.keyword(refused, "out")
    return mine is not None and other is not None and ast.unparse(calls.whole(mine)) == ast.unparse(calls.whole(other))


def _taken(source: Source, call: ast.Call) -> list[Step]:
    place, statement = calls.keyword(call, "out"), source.statement(call)
    if isinstance(place, ast.Call) and not isinstance(source.parent(call), ast.Expr):
        return remove_keyword(source, call, "out")
    if not isinstance(place, ast.Subscript):
        return out_of_place(source, call)
    if not isinstance(statement, ast.Expr) or statement.value is not call:
        raise Declined("the part that the result goes to has no statement of its own")
    return [*bind(source, statement, source.segment(place)), *remove_keyword(source, call, "out")]
