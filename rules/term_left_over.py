"""A term of the loss that is computed under a condition, and left over from an earlier pass where it does not hold.

## What it does
Sets the term to zero before the condition: `loss_box = torch.zeros(())`.

## Why autograd fails
Where the condition does not hold, the loss takes the term of an earlier pass with its graph, which the backward of that
pass has freed.

## Fix safety
Not safe by itself: the code takes the old term into its loss, and nothing says that a pass without it has none. What is
computed only now and then, by a count of steps, is kept on purpose.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Applicability, Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import ensure_import, insert_before

WHY = "An iteration that does not compute {path} takes zero, and no longer the term of an earlier one."


class TermLeftOver(Rule):
    code, name = "AG219", "term-left-over"
    title = "Begin with zero where the term is not computed"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.MEANT
    applicability = Applicability.UNSAFE
    examples = Example.each("""\
net, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
! unsafe: the old term may be meant
for x, found in zip(torch.randn(5, 5, 3), (True, True, False, True, False)):
    z = net(x).tanh()
    loss = z.square().mean()
+    extra = torch.zeros(())
    if found:
        extra = head(z).exp().mean()
    loss = loss + 0.1 * extra
    train: loss
! unsafe: the same of an attribute
class Detector(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        self.loss_box = None

    @property
    def loss(self):
        return self.loss_class + self.loss_box

    def forward(self, x, found):
        z = self.net(x).tanh()
        self.loss_class = z.square().mean()
+        self.loss_box = torch.zeros(())
        if len(found) > 0:
            self.loss_box = self.head(z[found]).exp().mean()


net = Detector()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for found in ([0, 1], [2], [], [1, 3], []):
    net(torch.randn(5, 3), found)
    train: net.loss
! unsafe: the same in a branch of several
for x, found in zip(torch.randn(5, 5, 3), (1, 2, 0, 1, -1)):
    z, loss = net(x).tanh(), 0
+    extra = torch.zeros(())
    if found < 0:
        print("unknown")
    elif found:
        extra = head(z).exp().mean()
    loss += z.square().mean()
    loss += extra
    train: loss
! now and then, by a count of steps
for step, x in enumerate(torch.randn(6, 5, 3)):
    if step % 2 == 0:
        penalty = head.weight.exp().sum()
    loss = head(net(x).tanh()).square().mean() + penalty
    train: loss
! a state is made of its own last value, and is no term
h = torch.zeros(5, 4)
for x in torch.randn(6, 5, 3):
    if x.sum() < 2:
        h = (net(x) + h).tanh()
    loss = head(h).square().mean()
    train: loss
! what is made once
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.penalty = torch.nn.Parameter(torch.ones(3)), None

    def forward(self, x):
        if self.penalty is None:
            self.penalty = self.w.exp().sum()
        return (x @ self.w).square().mean() + self.penalty


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    train: net(x)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each variable that carried a tensor into the failing pass: before the condition on which it is bound."""
        carriers = dict.fromkeys(one for crossing in diagnosis.crossed for one in crossing.carriers)
        for carrier in carriers:
            source = sources.source(carrier.file)
            if source is None or carrier.kind != "tensor" or not _is_term(source, carrier.path):
                continue
            for condition in _conditions(source, carrier.path):
                torch, imports = ensure_import(source, "torch")
                steps = insert_before(source, condition, [f"{carrier.path} = {torch}.zeros(())"])
                yield self.propose([*imports, *steps], WHY.format(path=carrier.path))


def _conditions(source: Source, path: str) -> Iterator[ast.If]:
    """The one condition under which a variable is computed; none where it is elsewhere, too, or asks for it."""
    given = [one for one in names.assignments(source, path) if not isinstance(one.value, ast.Constant | None)]
    found: list[ast.If] = []
    for statement in given:
        inside = [one for one in blocks.holders(source, statement) if isinstance(one, ast.If)]
        if not inside or not isinstance(statement, ast.Assign) or path in names.reads(statement):
            return
        found.append(inside[-1])
    if len(set(found)) == 1 and not _is_kept(found[0], path):
        yield found[0]


def _is_kept(condition: ast.If, path: str) -> bool:
    """Whether a condition, or one of its branches, asks for the variable itself, or for a count."""
    tests = [one.test for one in ast.walk(condition) if isinstance(one, ast.If)]
    counts = (isinstance(one, ast.Mod) for test in tests for one in ast.walk(test))
    return any(counts) or any(path.rpartition(".")[2] in ast.unparse(test) for test in tests)


def _is_term(source: Source, path: str) -> bool:
    """Whether a variable is added to something, itself or with a weight."""
    for read in (one for one in source.mentioning(path) if isinstance(one, ast.expr) and calls.path_of(one) == path):
        above = source.parent(read)
        while isinstance(above, ast.BinOp) and isinstance(above.op, (ast.Mult, ast.Div)):
            above = source.parent(above)
        if isinstance(above, (ast.BinOp, ast.AugAssign)) and isinstance(above.op, (ast.Add, ast.Sub)):
            return True
    return False
