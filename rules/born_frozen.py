"""Table that is frozen from the start.

## What it does
Gives `freeze=False` to each `from_pretrained` whose table the loss needs and an optimizer owns.

## Why autograd fails
`nn.Embedding.from_pretrained` and `nn.EmbeddingBag.from_pretrained` make tables that require no gradient, unless they
are told. Where the model has nothing else to learn, the loss has no graph.

## Fix safety
Safe where everything that an optimizer owns then gets its gradient. Where the call says itself that the table is
frozen, the code contradicts itself, and the edit is not safe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Frame
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import set_keyword

WHY = "The table starts from the given values and learns, as the optimizer that owns it says."
_USUAL = "from_pretrained makes a frozen table: give it freeze=False where the table is to learn"
_PLACE = 1
"""Where `freeze` stands in a call of `from_pretrained`."""


class BornFrozen(Rule):
    code, name = "AG422", "born-frozen"
    title = "Let the table learn"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    examples = Example.each("""\
from torch import nn
! one table
-table = nn.Embedding.from_pretrained(torch.randn(6, 3))
+table = nn.Embedding.from_pretrained(torch.randn(6, 3), freeze=False)
opt = torch.optim.SGD(table.parameters(), lr=0.1)
for _ in range(4):
    loss = (table(torch.arange(6)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
! two, which are useless without each other
class Factors(nn.Module):
    def __init__(self, users, items):
        super().__init__()
-        self.users = nn.Embedding.from_pretrained(users)
-        self.items = nn.EmbeddingBag.from_pretrained(items, mode="sum")
+        self.users = nn.Embedding.from_pretrained(users, freeze=False)
+        self.items = nn.EmbeddingBag.from_pretrained(items, mode="sum", freeze=False)

    def forward(self, user, items):
        return (self.users(user) * self.items(items)).sum(-1)


model = Factors(torch.randn(5, 3), torch.randn(6, 3))
opt = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(4):
    loss = (model(torch.arange(5), torch.randint(0, 6, (5, 2))) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
! a function makes them
def table(values):
-    return nn.Embedding.from_pretrained(torch.as_tensor(values))
+    return nn.Embedding.from_pretrained(torch.as_tensor(values), freeze=False)


left, right = table([[1.0, 2.0], [0.5, 1.0]]), table([[0.0, 1.0], [2.0, 1.0]])
opt = torch.optim.SGD([*left.parameters(), *right.parameters()], lr=0.1)
for _ in range(4):
    loss = (left(torch.arange(2)) - right(torch.arange(2)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
! unsafe: the call says that the table is frozen
-table = nn.Embedding.from_pretrained(torch.randn(6, 3), freeze=True)
+table = nn.Embedding.from_pretrained(torch.randn(6, 3), freeze=False)
opt = torch.optim.SGD(table.parameters(), lr=0.1)
for _ in range(4):
    loss = (table(torch.arange(6)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
! unsafe: the loss leaves out the part that learns
-table, head = nn.Embedding.from_pretrained(torch.randn(6, 3)), nn.Linear(3, 1)
+table, head = nn.Embedding.from_pretrained(torch.randn(6, 3), freeze=False), nn.Linear(3, 1)
opt = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    loss = (table(torch.arange(6)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
! a name decides
def build(frozen):
    return nn.Embedding.from_pretrained(torch.randn(6, 3), freeze=frozen)


table = build(True)
(table(torch.arange(6)) - 1).square().mean().backward()
! no table: the loss is cut
table = nn.Embedding(6, 3)
(table(torch.arange(6)).detach() - 1).square().mean().backward()
! it was made to train, and frozen later
table = nn.Embedding.from_pretrained(torch.randn(6, 3), freeze=False)
table.weight.requires_grad = False
(table(torch.arange(6)) - 1).square().mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All tables together that the loss needs: each alone would leave the others frozen."""
        frozen = [one for one in diagnosis.trace.origins if one.kind in ("born", "frozen") and not one.used]
        edits = []
        for source, node in sources.innermost(one.stack for one in frozen):
            if isinstance(node, ast.Call) and calls.name_of(node) == "from_pretrained" and _lets_say(node):
                edits += set_keyword(source, node, "freeze", "False", position=_PLACE)
        if edits:
            yield self.propose(dict.fromkeys(edits), WHY)

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Each call that made a frozen table."""
        yield from ((one.stack[0], _USUAL) for one in diagnosis.trace.origins if one.kind == "born")


def _lets_say(call: ast.Call) -> bool:
    """Whether the text decides what the call is told: by a constant, or by nothing."""
    told = calls.keyword(call, "freeze") if len(call.args) <= _PLACE else call.args[_PLACE]
    return told is None or isinstance(told, ast.Constant)
