"""Table or parameter that is frozen from the start.

## What it does
Gives `freeze=False` to each `from_pretrained` whose table the loss needs and an optimizer owns, and takes
`requires_grad=False` from each such `nn.Parameter`.

## Why autograd fails
`nn.Embedding.from_pretrained` and `nn.EmbeddingBag.from_pretrained` make tables that require no gradient, unless they
are told, and a parameter requires none where it is told so. Where the model has nothing else to learn, the loss has no
graph.

## Fix safety
Safe where everything that an optimizer owns then gets its gradient. Where the call says itself that the table or
parameter is frozen, the code contradicts itself, and the edit is not safe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Frame
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import remove_keyword, set_keyword

WHY = "It starts from the given values, and the optimizer that owns it trains it."
_USUAL = "from_pretrained makes a frozen table: give it freeze=False where the table is to learn"
_FLAGS = {"from_pretrained": ("freeze", "False"), "Parameter": ("requires_grad", "True")}
"""What tells each call whether to make something frozen, and with which value that learns."""
_PLACE = 1
"""Where it stands in these calls."""


class BornFrozen(Rule):
    code, name = "AG422", "born-frozen"
    title = "Let it learn from the start"
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
    train: loss
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
    train: loss
! unsafe: the call says that the table is frozen
-table = nn.Embedding.from_pretrained(torch.randn(6, 3), freeze=True)
+table = nn.Embedding.from_pretrained(torch.randn(6, 3), freeze=False)
opt = torch.optim.SGD(table.parameters(), lr=0.1)
for _ in range(4):
    loss = (table(torch.arange(6)) - 1).square().mean()
    train: loss
! the loss leaves out a part that is owned, too
-table, head = nn.Embedding.from_pretrained(torch.randn(6, 3)), nn.Linear(3, 1)
+table, head = nn.Embedding.from_pretrained(torch.randn(6, 3), freeze=False), nn.Linear(3, 1)
opt = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    loss = (table(torch.arange(6)) - 1).square().mean()
    train: loss
! unsafe: the calls say that the parameters are frozen
class Affine(nn.Module):
    def __init__(self, size):
        super().__init__()
-        self.scale = nn.Parameter(torch.ones(size), requires_grad=False)
-        self.shift = nn.Parameter(torch.zeros(size), False)
+        self.scale = nn.Parameter(torch.ones(size))
+        self.shift = nn.Parameter(torch.zeros(size), True)

    def forward(self, x):
        return x * self.scale + self.shift


model = Affine(3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    loss = (model(torch.randn(5, 3)) - 1).square().mean()
    train: loss
! a name decides
def build(frozen):
    return nn.Embedding.from_pretrained(torch.randn(6, 3), freeze=frozen)


table = build(True)
(table(torch.arange(6)) - 1).square().mean().backward()
! the loss is cut, and does not need what is frozen by its call
kept, w = nn.Parameter(torch.ones(3), requires_grad=False), nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([kept, w], lr=0.1)
(w.detach() - 1).square().mean().backward()
! it was made to train, and frozen later
table = nn.Embedding.from_pretrained(torch.randn(6, 3), freeze=False)
table.weight.requires_grad = False
(table(torch.arange(6)) - 1).square().mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All together that the loss needs: each alone would leave the others frozen."""
        frozen = [one for one in diagnosis.trace.origins if one.kind in ("born", "frozen") and not one.used]
        edits = []
        for source, node in sources.innermost(one.stack for one in frozen):
            flag, value = _FLAGS.get(calls.name_of(node), ("", ""))
            if not (flag and isinstance(node, ast.Call) and _lets_say(node, flag)):
                continue
            if value == "True" and calls.keyword(node, flag) is not None:  # as it is where nothing is said
                edits += remove_keyword(source, node, flag)
            else:
                edits += set_keyword(source, node, flag, value, position=_PLACE)
        if edits:
            yield self.propose(dict.fromkeys(edits), WHY)

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Each call that made a frozen table."""
        yield from ((one.stack[0], _USUAL) for one in diagnosis.trace.origins if one.kind == "born")


def _lets_say(call: ast.Call, flag: str) -> bool:
    """Whether the text decides what the call is told: by a constant, or by nothing."""
    told = calls.keyword(call, flag) if len(call.args) <= _PLACE else call.args[_PLACE]
    return told is None or isinstance(told, ast.Constant)
