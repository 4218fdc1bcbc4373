"""A derivative that a Function takes in its own forward, where torch records nothing.

## What it does
Switches gradients on for the part that is differentiated: `with torch.enable_grad():` around it.

## Why autograd fails
torch runs the forward of a `torch.autograd.Function` with gradients off, and its backward too: that they need no graph
is what a Function is for. One that solves for its result with derivatives has to record what it differentiates.

## Fix safety
Safe where the run shows that the gradients are those of the Function's own backward, with the derivatives that its
author takes in there. What calls `backward()` in there would reach what is trained as well, and is declined.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import ensure_import, wrap
from autofix.syntax.vocabulary import GRAD

WHY = "Inside a Function gradients are off: once they are on, what is differentiated there has a graph."


class DerivativeInsideFunction(Rule):
    code, name = "AG428", "derivative-inside-function"
    title = "Switch gradients on for what is differentiated"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    examples = Example.each("""\
head = torch.nn.Linear(4, 4)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
! a step along a derivative, until the energy is least
class Least(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        z = torch.zeros_like(x)
        for _ in range(20):
            z = z.detach().requires_grad_()
-            (g,) = torch.autograd.grad(((z - x).pow(2) + z.exp()).sum(), z)
+            with torch.enable_grad():
+                (g,) = torch.autograd.grad(((z - x).pow(2) + z.exp()).sum(), z)
            z = z - 0.2 * g
        ctx.save_for_backward(z.detach())
        return z.detach()

    @staticmethod
    def backward(ctx, grad):
        (z,) = ctx.saved_tensors
        return grad * 2 / (2 + z.exp())


for _ in range(4):
    train: Least.apply(head(torch.randn(5, 4))).pow(2).mean()
! the energy has a name of its own, and is made of several lines
class Least(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        z = torch.zeros_like(x).requires_grad_()
-        far = (z - x).pow(2)
-        energy = (far + z.exp()).sum()
+        with torch.enable_grad():
+            far = (z - x).pow(2)
+            energy = (far + z.exp()).sum()
        return z.detach() - 0.2 * torch.autograd.grad(energy, z)[0]

    @staticmethod
    def backward(ctx, grad):
        return 0.4 * grad


for _ in range(4):
    train: Least.apply(head(torch.randn(5, 4))).pow(2).mean()
! a backward that differentiates what it computes again
def f(x):
    return x.sin() * x


class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return f(x)

    @staticmethod
    def backward(ctx, grad):
        x = ctx.saved_tensors[0].detach().requires_grad_()
-        again = f(x)
+        with torch.enable_grad():
+            again = f(x)
        return torch.autograd.grad(again, x, grad)[0]


for _ in range(4):
    train: Again.apply(head(torch.randn(5, 4))).pow(2).mean()
! a helper solves, and the forward calls it
def least(x):
    z = torch.zeros_like(x)
    for _ in range(5):
        z = z.detach().requires_grad_()
        (g,) = torch.autograd.grad(((z - x).pow(2) + z.exp()).sum(), z)
        z = z - 0.2 * g
    return z.detach()


class Least(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
-        z = least(x)
+        with torch.enable_grad():
+            z = least(x)
        ctx.save_for_backward(z)
        return z

    @staticmethod
    def backward(ctx, grad):
        (z,) = ctx.saved_tensors
        return grad * 2 / (2 + z.exp())


for _ in range(4):
    train: Least.apply(head(torch.randn(5, 4))).pow(2).mean()
! a whole backward in there would reach the weights of the scale
scale = torch.nn.Parameter(torch.ones(4))


class Least(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        z = torch.zeros_like(x).requires_grad_()
        ((z - scale * x).pow(2)).sum().backward()
        return -z.grad

    @staticmethod
    def backward(ctx, grad):
        return grad, None


Least.apply(head(torch.randn(5, 4)), scale).pow(2).mean().backward()
! it is switched off by hand
class Least(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch.no_grad():
            z = torch.zeros_like(x).requires_grad_()
            return torch.autograd.grad((z - x).pow(2).sum(), z)[0]

    @staticmethod
    def backward(ctx, grad):
        return grad


Least.apply(head(torch.randn(5, 4))).pow(2).mean().backward()
! nothing asks for the gradient that is taken
class Least(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        z = torch.zeros_like(x)
        return torch.autograd.grad((z - x).pow(2).sum(), z)[0]

    @staticmethod
    def backward(ctx, grad):
        return grad


Least.apply(head(torch.randn(5, 4))).pow(2).mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Around what makes what is differentiated; around the call in the Function, if a helper differentiates."""
        lost = [stack[0] for stack in diagnosis.lost("inside")]
        for frame, source, node in sources.located(diagnosis.failure.stack):
            if lost and (frame.file, frame.function) == (lost[0].file, lost[0].function):
                part = _part(source, node) if frame is diagnosis.failure.stack[0] else [source.statement(node)]
                torch, imports = ensure_import(source, "torch")
                yield self.propose([*imports, *wrap(source, part, f"with {torch}.enable_grad():")], WHY)
                return


def _part(source: Source, derivative: ast.expr) -> list[ast.stmt]:
    """The statements that make what is differentiated of what its derivative is taken by, with that of the call."""
    statement = source.statement(derivative)
    outputs, inputs = (calls.argument(derivative, GRAD, name) for name in ("outputs", "inputs"))
    if outputs is None or inputs is None:
        return [statement]
    by = names.reads(inputs)
    for one in blocks.holders(source, derivative):
        before = blocks.before(blocks.block_of(source, one), one)
        made = [place for place, each in enumerate(before) if by & names.binds(each) or _flags(each, by)]
        after = before[made[-1] + 1 :] if made else before
        if makes := names.backward(names.reads(outputs) - by, after):
            first, last = after.index(makes[0]), after.index(makes[-1])
            whole = one is statement and not calls.path_of(outputs)  # the call itself computes, too
            return [*after[first:], statement] if whole else list(after[first : last + 1])
        if made:
            break
    return [statement]


def _flags(statement: ast.stmt, paths: set[str]) -> bool:
    """Whether a statement lets one of these tensors require a gradient."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=tensor, attr="requires_grad_"))):
            return calls.path_of(tensor) in paths
    return False
