"""A loss is given what was decided by a threshold, not the values that were compared.

## What it does
Gives the loss the values (`criterion(prob, y)` for `criterion((prob > 0.5).float(), y)`). What is decided stays for who
counts it: an accuracy gets `(prob > 0.5).float()`.

## Why autograd fails
A comparison is the same for all values on one side of it. It has no gradient, and a loss that is made of its result
alone has none.

## Fix safety
Never safe by itself: the code compares, and nothing in it says that the loss is meant to be of the values. Declines
where what is decided is changed in shape before the loss, has no name, or where the loss is made elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import Step, delete, replace
from autofix.syntax.reaching import Reaching

WHY = "The loss gets the values, which have a gradient; what is decided by them is left to who counts it."
_CASTS = ("float", "double", "long", "int", "to", "type", "type_as")
_ORDERS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)


class DecidedBeforeTheLoss(Rule):
    code, name = "AG431", "decided-before-the-loss"
    title = "Give the loss the values that are compared"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    conventional = True
    examples = Example.each("""\
! unsafe: a person has to say that the loss is of the probabilities; an accuracy still counts what is decided
net = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randint(2, (8, 1)).float()
    out = net(x)
-    out = (out > 0.5).float()
    loss = torch.nn.functional.binary_cross_entropy(out, y)
-    right = (out == y).sum()
+    right = ((out > 0.5).float() == y).sum()
    train: loss
! unsafe: the values have a name of their own
net = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
criterion = torch.nn.BCELoss()
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randint(2, (8, 1)).float()
    prob = net(x)
    pred = (prob > 0.5).float()
    print((pred == y).sum().item())
-    loss = criterion(pred, y)
+    loss = criterion(prob, y)
    train: loss
! unsafe: the values have no name
net = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x, y = torch.randn(8, 3), torch.randint(2, (8, 1)).float()
-    pred = (net(x) > 0.5).float()
-    print(pred.sum().item())
+    pred = net(x)
+    print((pred > 0.5).float().sum().item())
    loss = (pred - y).square().mean()
    train: loss
! what is decided has another shape
net = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
x, y = torch.randn(8, 3), torch.randint(2, (8,)).float()
pred = (net(x) > 0.5).float().squeeze(1)
loss = (pred - y).square().mean()
loss.backward()
! the loss is made elsewhere
def error(pred, y):
    return (pred - y).square().mean()


def decided(net, x):
    pred = (net(x) > 0.5).float()
    return pred


net = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
error(decided(net, torch.randn(8, 3)), torch.ones(8, 1)).backward()
! what is decided has no name
net = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
((net(torch.randn(8, 3)) > 0.5).float() - 1).square().mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where the graph of the loss ended at a comparison that a variable is given."""
        failed = next(sources.located(diagnosis.failure.stack[:1]), None)
        for origin in diagnosis.trace.origins:
            for _, source, node in sources.located(origin.stack[:1]) if origin.kind == "discrete" else ():
                if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], _ORDERS)):
                    return
                if failed is None or failed[1] is not source:
                    raise Declined("the loss is made in another file than what is decided")
                yield self.propose(_undecided(source, node, failed[2]), WHY)


def _undecided(source: Source, test: ast.Compare, failed: ast.expr) -> list[Step]:
    """The values of a comparison for a loss, and what is decided for all else that reads it."""
    decided = source.statement(test)
    if not (isinstance(decided, ast.Assign) and len(decided.targets) == 1 and isinstance(decided.targets[0], ast.Name)):
        raise Declined("what is decided has no name of its own")
    if _without_casts(decided.value) is not test:
        raise Declined("what is decided is changed before the loss")
    reading = Reaching(source.function(decided) or source.tree)
    loss = {decided for one in ast.walk(failed) for decided in reading.reads.get(one, ())}  # type: ignore[call-overload]
    reads = reading.of(decided)
    given = [one for one in reads if source.statement(one) in (*loss, source.statement(failed))]
    if not given:
        raise Declined("the loss is made elsewhere")
    name, values = decided.targets[0].id, _values(test)
    path = calls.path_of(values)
    behind = blocks.after(blocks.block_of(source, decided), decided)
    if path and path != name and not any(path in names.binds(one) for one in behind):
        return [step for one in given for step in replace(source, one, path)]
    (start, end), (first, last) = source.extent(decided.value), source.extent(values)
    text = f"{source.text[start:first]}{name}{source.text[last:end]}"
    edits = [step for one in reads if one not in given for step in replace(source, one, text)]
    alone = delete(source, decided) if path == name else replace(source, decided.value, source.segment(values))
    return [*edits, *alone]


def _values(test: ast.Compare) -> ast.expr:
    """What is compared with a number."""
    return test.comparators[0] if isinstance(test.left, ast.Constant) else test.left


def _without_casts(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _CASTS:
        value = value.func.value
    return value
