"""A gradient asked of whole numbers.

## What it does
Makes the tensor of floating point numbers with the same values: `1` becomes `1.0` in a literal, else
`dtype=torch.float32` is added, or the tensor is cast before its flag is set or it becomes a parameter.

## Why autograd fails
A gradient says how a result changes with small changes of a value. Whole numbers have none, and torch refuses the flag.

## Fix safety
Safe: the values are the same, and there is no other way to read them that has a gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from autofix.probe.wire import Stack
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names
from autofix.syntax.edits import Step, append_call, ensure_import, replace, set_keyword

_DEEPEST = 4
_PARAMETER = "torch.nn.Parameter"

WHY = "The same values as floating point numbers can have a gradient."


class IntegerRequiresGrad(Rule):
    code, name = "AG406", "integer-requires-grad"
    title = "Make the tensor of floating point numbers"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    examples = Example.each("""\
! a literal
-w = torch.tensor([1, -2], requires_grad=True)
+w = torch.tensor([1.0, -2.0], requires_grad=True)
(w * w).sum().backward()
print(w.grad.sum().item())
! numbers that a call makes
-w = torch.arange(3, requires_grad=True)
+w = torch.arange(3, dtype=torch.float32, requires_grad=True)
(w * w).sum().backward()
print(w.grad.sum().item())
! the flag is set behind it
-w = torch.arange(3).requires_grad_()
+w = torch.arange(3).float().requires_grad_()
(w * w).sum().backward()
print(w.grad.sum().item())
! a parameter
class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
-        self.scale = torch.nn.Parameter(torch.tensor([1, 2]))
+        self.scale = torch.nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x):
        return x * self.scale


scale = Scale()
opt = torch.optim.SGD(scale.parameters(), lr=0.1)
for _ in range(3):
    train: scale(torch.ones(3, 2)).sum()
! a parameter of numbers that were made before
start = torch.arange(3) - 1
-w = torch.nn.Parameter(start)
+w = torch.nn.Parameter(start.float())
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(3):
    train: (w * w - w).sum()
! a helper makes parameters of other numbers, too
def learned(values):
    return torch.nn.Parameter(torch.as_tensor(values))


w = learned(torch.ones(3, dtype=torch.float64) / 3)
-v = learned(torch.arange(3))
+v = learned(torch.arange(3).float())
opt = torch.optim.SGD([v, w], lr=0.1)
for _ in range(3):
    train: (w * v).square().sum()
! each part of a list becomes a parameter
weights = torch.nn.ParameterList([torch.arange(3)])
! the flag is set on a tensor that others may hold; a cast would make another one
values = torch.arange(3)
values.requires_grad = True
! the same by a method whose result is dropped
values = torch.arange(3)
values.requires_grad_()
! the arguments are in a mapping that is made elsewhere
options = {"requires_grad": True}
w = torch.arange(3, **options)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At the call that was refused, where it makes the tensor."""
        if not diagnosis.failure.function:
            return
        for _, source, node in sources.located(diagnosis.failure.stack[:1]):
            match node:
                case ast.Call(func=ast.Attribute(attr="requires_grad_")) if isinstance(source.parent(node), ast.Expr):
                    raise Declined("the flag is set on a tensor that was made elsewhere")
                case ast.Call(func=ast.Attribute(value=made, attr="requires_grad_")):
                    yield self.propose(append_call(source, made, ".float()"), WHY)
                case ast.Call() if diagnosis.failure.function == _PARAMETER:
                    yield from self._parameter(diagnosis.failure.stack, sources)
                case ast.Call():
                    yield from self._typed(source, node)
                case _:
                    raise Declined("the flag is set on a tensor that was made elsewhere")

    def _parameter(self, stack: Stack, sources: Sources) -> Iterator[Proposal]:
        """Where the numbers come from: a helper that makes parameters of what it is given makes others, too."""
        given: Sequence[str] = ("data", "requires_grad")
        name = "data"
        for _, source, call in sources.nodes(stack[:_DEEPEST]):
            data = calls.argument(call, given, name) if isinstance(call, ast.Call) else None
            if data is None or (name == "data" and calls.name_of(call) != "Parameter"):
                raise Declined("the call does not say which parameter is made of what")
            function = source.function(call)
            given = [one.arg for one in function.args.args] if function is not None else []
            handed = [one for one in given if one in names.reads(data)]
            if len(handed) != 1:
                if isinstance(data, ast.Call) and (floats := _floats(source, data)):
                    yield self.propose(floats, WHY)
                yield self.propose(append_call(source, data, ".float()"), WHY, later=1)
                return
            name = handed[0]
        raise Declined("the numbers are handed through several functions")

    def _typed(self, source: Source, call: ast.Call) -> Iterator[Proposal]:
        if not any(keyword.arg == "requires_grad" for keyword in call.keywords):
            raise Declined("requires_grad may be among its ** arguments")
        if floats := _floats(source, call):
            yield self.propose(floats, WHY)
        torch, imports = ensure_import(source, "torch")
        typed = set_keyword(source, call, "dtype", f"{torch}.float32", before="requires_grad")
        yield self.propose([*imports, *typed], WHY, later=2)


def _floats(source: Source, call: ast.Call) -> list[Step]:
    """The whole numbers that a call of `torch.tensor` spells, as floats; none of another call."""
    whole = [n for argument in call.args for n in ast.walk(argument) if _is_whole(n)]
    spelled = whole if calls.name_of(call) == "tensor" else []
    return [step for one in spelled for step in replace(source, one, f"{source.segment(one)}.0")]


def _is_whole(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and type(node.value) is int
