"""A function of one's own saves for its backward what is no tensor.

## What it does
Keeps numbers and settings as attributes of the context: `ctx.slope = slope`, and `slope = ctx.slope` in the backward.
`save_for_backward` gets the tensors alone.

## Why autograd fails
`save_for_backward` is for tensors, whose versions and graphs autograd has to know. All else is refused.

## Fix safety
Safe: the backward gets the same values. Declines where it does not unpack what was saved in one statement, or where a
value that is no tensor has no name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step, replace_statement

WHY = "The backward has the same values; autograd keeps the tensors, and the context keeps what is none."


class SavedNoTensor(Rule):
    code, name = "AG433", "saved-no-tensor"
    title = "Keep what is no tensor on the context"
    causes = frozenset({Cause.SAVED_NO_TENSOR})
    tier = Tier.ANSWER
    usual = "failed", "save_for_backward is for tensors: keep a number on the context, as ctx.scale = scale"
    examples = Example.each("""\
! a slope that the backward is given
class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u, slope):
-        ctx.save_for_backward(u, slope)
+        ctx.save_for_backward(u)
+        ctx.slope = slope
        return (u > 0).float()

    @staticmethod
    def backward(ctx, grad):
-        u, slope = ctx.saved_tensors
+        u, = ctx.saved_tensors
+        slope = ctx.slope
        return grad / (slope * u.abs() + 1) ** 2, None


net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: (Spike.apply(net(torch.randn(5, 3)), 5.0) - 1).square().mean()
! nothing that is saved is a tensor, and the context has another name
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(self, x, by, power):
-        self.save_for_backward(by, power)
+        self.by = by
+        self.power = power
        return x * by**power

    @staticmethod
    def backward(self, grad):
-        by, power = self.saved_tensors
+        by = self.by
+        power = self.power
        return grad * by**power, None, None


w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    train: (Scaled.apply(w, 3.0, 2) - 1).square().sum()
! a flag is saved between two tensors
class Gated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, hard, gate):
-        ctx.save_for_backward(x, hard, gate)
+        ctx.save_for_backward(x, gate)
+        ctx.hard = hard
        return x * gate

    @staticmethod
    def backward(ctx, grad):
-        x, hard, gate = ctx.saved_tensors
+        x, gate = ctx.saved_tensors
+        hard = ctx.hard
        return grad * gate, None, None if hard else grad * x


a, b = torch.ones(3, requires_grad=True), torch.full((3,), 0.5, requires_grad=True)
opt = torch.optim.SGD([a, b], lr=0.1)
for _ in range(4):
    train: (Gated.apply(a, False, b) - 1).square().sum()
! what is computed with whole numbers stays so
class Small(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, power):
-        ctx.save_for_backward(x, power)
+        ctx.save_for_backward(x)
+        ctx.power = power
        return x * 10**-power

    @staticmethod
    def backward(ctx, grad):
-        x, power = ctx.saved_tensors
+        x, = ctx.saved_tensors
+        power = ctx.power
        return grad * 10**-power, None


w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=10.0)
for _ in range(4):
    train: (Small.apply(w, 1) - 1).square().sum()
! it saves in two places
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        if by > 1:
            ctx.save_for_backward(x, by)
        else:
            ctx.save_for_backward(x, x)
        return x * by

    @staticmethod
    def backward(ctx, grad):
        x, by = ctx.saved_tensors
        return grad * by, None


Scaled.apply(torch.ones(3, requires_grad=True), 2.0).sum().backward()
! the backward takes what was saved one by one
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.save_for_backward(x, by)
        return x * by

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[1], None


Scaled.apply(torch.ones(3, requires_grad=True), 2.0).sum().backward()
! what is saved has no name
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.save_for_backward(x, 2 * by)
        return x * 2 * by

    @staticmethod
    def backward(ctx, grad):
        x, by = ctx.saved_tensors
        return grad * by, None


Scaled.apply(torch.ones(3, requires_grad=True), 2.0).sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Both ends: where the forward saves, and where the backward of its class unpacks."""
        for origin in diagnosis.trace.origins:
            for _, source, call in sources.located(origin.stack[:1]) if origin.kind == "plainly_saved" else ():
                plain = {int(place) for place in origin.node.split(",")}
                yield self.propose(_kept(source, call, plain), WHY)


def _kept(source: Source, call: ast.expr, plain: set[int]) -> list[Step]:
    saving, forward = source.statement(call), source.function(call)
    around = source.parent(forward) if forward is not None else None
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=context)), args=given, keywords=[]) if not any(
            isinstance(one, ast.Starred) for one in given
        ):
            pass
        case _:
            raise Declined("what is saved is not listed in the call")
    if not isinstance(around, ast.ClassDef) or calls.path_of(getattr(saving, "value", None)) or not plain:
        raise Declined("it is saved elsewhere than in a method of its function")
    if not all(isinstance(given[place], ast.Name) for place in plain):
        raise Declined("what is no tensor has no name")
    if sum(calls.name_of(one) == "save_for_backward" for one in calls.within(around)) > 1:
        raise Declined("the forward saves in several places")
    unpacking, names = _unpacked(around, len(given))
    tensors = [place for place in range(len(given)) if place not in plain]
    first = [f"{context}.save_for_backward({', '.join(source.segment(given[place]) for place in tensors)})"]
    first = first * bool(tensors) + [f"{context}.{_name(given[at])} = {_name(given[at])}" for at in sorted(plain)]
    holder = ast.unparse(unpacking.value).removesuffix(".saved_tensors")
    left = ", ".join(names[place] for place in tensors) + "," * (len(tensors) == 1)
    second = [f"{left} = {holder}.saved_tensors"] * bool(tensors)
    second += [f"{names[at]} = {holder}.{_name(given[at])}" for at in sorted(plain)]
    return [*replace_statement(source, saving, first), *replace_statement(source, unpacking, second)]


def _unpacked(function: ast.ClassDef, count: int) -> tuple[ast.Assign, list[str]]:
    """The one statement that unpacks what was saved, and the names that it gives it."""
    found = [node for node in ast.walk(function) if isinstance(node, ast.Attribute) and node.attr == "saved_tensors"]
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Attribute(attr="saved_tensors")) if (
                len(found) == 1 and len(parts) == count and all(isinstance(one, ast.Name) for one in parts)
            ):
                return node, [_name(one) for one in parts]
    raise Declined("the backward does not unpack what was saved in one statement")


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
