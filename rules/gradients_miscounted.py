"""A backward of one's own that gives fewer gradients than its forward takes arguments.

## What it does
Returns `None` for the arguments that need no gradient: `return -grad, None` for `return -grad`.

## Why autograd fails
A `torch.autograd.Function` gives one gradient for each argument of its `forward`, in their order, numbers and flags
among them. With fewer it cannot be told which is whose.

## Fix safety
Safe: an argument that needs no gradient gets none. Where one that needs a gradient would get none, the rule declines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import live
from autofix.syntax.edits import Step, embed, replace

WHY = "The backward then gives one gradient for each argument of its forward, and none to those that need none."


class GradientsMiscounted(Rule):
    code, name = "AG308", "gradients-miscounted"
    title = "Return None for what needs no gradient"
    causes = frozenset({Cause.GRADIENTS_MISCOUNTED})
    tier = Tier.ANSWER
    usual = (
        "given",
        "this backward lacks the gradient of an argument that needs one: return its derivative, None for the others",
    )
    examples = Example.each("""\
! the strength of a gradient reversal
class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
-        return grad.neg() * ctx.strength
+        return grad.neg() * ctx.strength, None


body, domain = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*body.parameters(), *domain.parameters()], lr=0.1)
for _ in range(4):
    train: domain(Reverse.apply(body(torch.randn(5, 3)).tanh(), 0.5)).pow(2).mean()
! a flag behind two tensors, in a quantizer with a learned step
class Quantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, step, bits=4):
        ctx.save_for_backward(x, step)
        return (x / step).round().clamp(-(2**bits), 2**bits) * step

    @staticmethod
    def backward(ctx, grad):
        x, step = ctx.saved_tensors
-        return (grad, (grad * x.sign()).sum().view(1))
+        return (grad, (grad * x.sign()).sum().view(1), None)


lin, step = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.full((1,), 0.1))
opt = torch.optim.SGD([*lin.parameters(), step], lr=0.01)
for _ in range(4):
    train: Quantize.apply(lin(torch.randn(5, 3)), step, 3).pow(2).mean()
! unsafe: the first return never runs
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, factor, x):
        ctx.factor = factor
        return factor * x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        if ctx.factor == 1:
-            return grad
+            return None, grad
        out = ctx.factor * grad
-        return out
+        return None, out


lin = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(lin.parameters(), lr=0.1)
for _ in range(4):
    train: Scaled.apply(0.3, lin(torch.randn(5, 3))).pow(2).mean()
! the second argument needs a gradient, and what that is only its author knows
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[1]


w = torch.ones(3, requires_grad=True)
Product.apply(w * 2, w).sum().backward()
! what it returns was put together elsewhere
def gradients(grad):
    return grad, grad


class Three(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, k):
        return x + y

    backward = staticmethod(lambda ctx, grad: gradients(grad))


w = torch.ones(3, requires_grad=True)
Three.apply(w * 2, w, 3).sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Every return of the backward, with None where an argument needs no gradient."""
        for origin in (one for one in diagnosis.trace.origins if one.kind == "miscounted"):
            given, _, needs = origin.node.partition(" of ")
            places = _places(int(given), needs)
            for frame in origin.stack[:1]:
                source, function = sources.source(frame.file), sources.function(frame)
                if source is None or function is None:
                    raise Declined("the backward is no function of a file that may be edited")
                edits = [edit for one in live.returned(function) for edit in _spread(source, one, places, len(needs))]
                yield self.propose(edits, WHY)


def _places(given: int, needs: str) -> list[int]:
    """Whose gradients those are that were given: of the first arguments, else of those that need one."""
    if "1" not in needs[given:]:
        return list(range(given))
    needing = [place for place, need in enumerate(needs) if need == "1"]
    if len(needing) != given:
        raise Declined("it gives no gradient for an argument that needs one")
    return needing


def _spread(source: Source, value: ast.expr, places: Sequence[int], count: int) -> list[Step]:
    """A returned value with None at each other place."""
    if not isinstance(value, ast.Tuple):
        if len(places) > 1:
            raise Declined("the gradients that it returns are put together elsewhere")
        before, after = "None, " * places[0], ", None" * (count - places[0] - 1)
        return embed(source, value, f"{before}{{}}{after}")
    if len(value.elts) != len(places) or any(isinstance(one, ast.Starred) for one in value.elts):
        raise Declined("how many gradients it returns cannot be told from the text")
    texts = ["None"] * count
    for place, one in zip(places, value.elts, strict=True):
        texts[place] = source.segment(one)
    bare = not source.segment(value).startswith("(")
    return replace(source, value, ", ".join(texts) if bare else f"({', '.join(texts)})")
