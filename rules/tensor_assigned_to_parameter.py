"""A tensor assigned to the name of a module's parameter.

## What it does
Where the value is used in this pass, it gets a name of its own: `weight = self.weight * mask`; a layer is called with
it by `torch.func.functional_call`. Where it is a new value for the parameter, it is written there without gradient:
`self.weight.copy_(value)`, or made a `Parameter` where no optimizer holds the old one yet.

## Why autograd fails
A module takes nothing but a `Parameter` under such a name. A result of operations is none: the optimizer would go on
with the old tensor, and the next pass would start from the graph of this one.

## Fix safety
Safe where the value has no graph: then it is a new value of the parameter, and the runs show whether the edit gives it
just that. So it is where it was made of the parameter alone, after that had its gradient. Another value with a graph
may be meant for this pass or as a new value; they train differently, and both run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, names, writes
from autofix.syntax.edits import Step, embed, ensure_import, functional_call, replace, replace_statement

WHY_VALUE = "The value of this iteration has a name of its own; the parameter stays the leaf that is trained."
WHY_UPDATE = "The parameter takes the new value and stays the leaf that is trained."
WHY_COPY = "A copy is never the parameter itself, which the module would register under this name."
WHY_PARAMETER = "The module gets a parameter that starts from this value."


class TensorAssignedToParameter(Rule):
    code, name = "AG306", "tensor-assigned-to-parameter"
    title = "Give the value of this pass a name of its own"
    causes = frozenset({Cause.PARAMETER_ASSIGNED})
    tier = Tier.MEANT
    usual = (
        "failed",
        "new values are usually copied into a parameter without gradient; a value of one iteration has its own name",
    )
    examples = Example.each("""\
import torch.nn.functional as F
! unsafe: the value has a graph, and may be meant as the new one of the parameter
class Masked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2, 3))
        self.register_buffer("mask", torch.tensor([[1.0, 0, 1], [0, 1, 1]]))

    def forward(self, x):
-        self.weight = self.weight * self.mask
-        return F.linear(x, self.weight)
+        weight = self.weight * self.mask
+        return F.linear(x, weight)


net = Masked()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = (net(torch.ones(5, 3)) - 1).pow(2).mean()
    train: loss
! the layer is called with the value
! unsafe: the value has a graph, and may be meant as the new one of the parameter
class Normed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.scale = torch.nn.Parameter(torch.ones(2, 1))

    def forward(self, x):
-        self.layer.weight = self.layer.weight * self.scale
-        return self.layer(x)
+        weight = self.layer.weight * self.scale
+        return torch.func.functional_call(self.layer, {"weight": weight}, (x,))


net = Normed()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = (net(torch.ones(5, 3)) - 1).pow(2).mean()
    train: loss
! weights are kept in range after the step
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = (net(torch.ones(5, 3)) - 1).pow(2).mean()
    train: loss
-    net.weight = net.weight.clamp(-0.1, 0.1)
+    with torch.no_grad():
+        net.weight.copy_(net.weight.clamp(-0.1, 0.1))
! a value without a graph is a new one of the parameter
class Scaled(torch.nn.Linear):
    @torch.no_grad()
    def shrink(self):
-        self.weight = self.weight * 0.5
+        self.weight.copy_(self.weight * 0.5)
        return self.weight.sum()


net = Scaled(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.ones(5, 3)).pow(2).mean()
    net.shrink()
! no optimizer holds the parameter yet
net = torch.nn.Linear(3, 2)
-net.weight = torch.eye(2, 3)
+net.weight = torch.nn.Parameter(torch.eye(2, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = (net(torch.ones(5, 3)) - 1).pow(2).mean()
    train: loss
! in evaluation the value is the parameter itself, and the module registers it
class Dropped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = torch.nn.Parameter(torch.ones(2, 3))

    def forward(self, x):
-        setattr(self, "weight", F.dropout(self.raw, 0.5, self.training))
+        setattr(self, "weight", F.dropout(self.raw, 0.5, self.training).clone())
        return F.linear(x, self.weight)


net = Dropped()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    loss = (net.train()(torch.ones(5, 3)) - 1).pow(2).mean()
    train: loss
    net.eval()(torch.ones(5, 3))
! several are assigned at once
net = torch.nn.Linear(3, 2)
net.weight, net.bias = torch.eye(2, 3), torch.zeros(2)
! nothing of the value is in the text
net = torch.nn.Linear(3, 2)
for pair in (("weight", torch.eye(2, 3)), ("bias", torch.zeros(2))):
    setattr(net, *pair)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """By what follows the assignment: uses of the value in this pass, or none."""
        for _, source, node in sources.nodes(diagnosis.failure.stack[:1]):
            statement = source.statement(node)
            match statement:
                case ast.Assign(targets=[ast.Attribute() as target], value=value):
                    begun = bool(diagnosis.trace.counts)
                    off = writes.under_no_grad(source, statement)  # what is computed there has no gradient to pass on
                    if edits := _renamed(source, statement, target):
                        yield self.propose(edits, WHY_VALUE, later=0 if begun and not off else 2)
                    yield from self._written(source, statement, target, off=off)
                    if not begun:
                        torch, imports = ensure_import(source, "torch")
                        made = [*imports, *embed(source, value, f"{torch}.nn.Parameter({{}})")]
                        yield self.propose(made, WHY_PARAMETER, title="Make a parameter of the value")
                    yield self._copied(source, value)
                case ast.Expr(ast.Call(func=ast.Name(id="setattr"), args=[_, _, value])):
                    yield self._copied(source, value)
                case _:
                    raise Declined("the parameter is not assigned by a statement of its own")

    def _copied(self, source: Source, value: ast.expr) -> Proposal:
        return self.propose(embed(source, value, "{}.clone()"), WHY_COPY, title="Assign a copy", later=3)

    def _written(
        self, source: Source, statement: ast.Assign, target: ast.Attribute, *, off: bool
    ) -> Iterator[Proposal]:  # fmt: skip
        text = source.segment(statement.value)
        if "\n" in text:
            raise Declined("the value does not stand on one line")
        torch, imports = ensure_import(source, "torch") if not off else ("", [])
        line = f"{source.segment(target)}.copy_({text})"
        lines = [line] if off else [f"with {torch}.no_grad():", f"    {line}"]
        edits = [*imports, *replace_statement(source, statement, lines)]
        yield self.propose(edits, WHY_UPDATE, title="Write the value to the parameter", later=1)


def _renamed(source: Source, statement: ast.Assign, target: ast.Attribute) -> list[Step]:
    """The value under a name of its own, and what uses it afterwards in the function by that name."""
    function = source.function(statement)
    path, holder = source.segment(target), source.segment(target.value)
    if function is None:
        return []
    taken = {one.id for one in ast.walk(function) if isinstance(one, ast.Name)} | {
        one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)
    }
    name = target.attr if target.attr not in taken else f"new_{target.attr}"
    following = blocks.after(blocks.block_of(source, statement), statement)
    if name in taken or any(path in names.binds(one) for one in following):
        return []
    edits: list[Step] = []
    for node in (part for one in following for part in ast.walk(one)):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and ast.unparse(node) == path:
            edits += replace(source, node, name)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == holder and holder != "self":
            torch, imports = ensure_import(source, "torch")
            edits += [*imports, *functional_call(source, node, torch, f'{{"{target.attr}": {name}}}')]
    return [*replace(source, target, name), *edits] if edits else []
