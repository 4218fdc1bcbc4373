"""A backward of one's own that gives a gradient for each result of what was repeated.

## What it does
Sums the gradient of an argument that the forward repeats: `return grad * scale, (grad * x).sum(dim=1)`.

## Why autograd fails
One step size for each channel serves all elements of that channel, and its gradient is the sum of what they send. torch
sums what has more axes in front; otherwise it refuses a gradient of another shape than the argument's. Where two sizes
happen to be the same, it sums over the wrong axis without a word.

## Fix safety
Safe where each element of the result is shown to be made of one element of the argument at most: that element then gets
all that they send. Nothing is said of the gradient itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import live
from autofix.syntax.calls import Function
from autofix.syntax.edits import Step, append_call
from autofix.syntax.reaching import Reaching

WHY = "Several elements of the result use one element of the argument, whose gradient is the sum of theirs."


class GradientNotSummed(Rule):
    code, name = "AG318", "gradient-not-summed"
    title = "Sum the gradient to the shape of the argument"
    causes = frozenset({Cause.GRADIENT_MISSHAPEN})
    tier = Tier.ANSWER
    usual = "given", "the gradient of an argument has its shape: what the results of one element send is summed"
    examples = Example.each("""\
! one step size for each channel of a quantizer, in a square layer, too
class Quantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, step):
        ctx.save_for_backward(w, step)
        return (w / step.view(-1, 1)).round() * step.view(-1, 1)

    @staticmethod
    def backward(ctx, grad):
        w, step = ctx.saved_tensors
        ratio = w / step.view(-1, 1)
-        return grad, grad * (ratio.round() - ratio)
+        return grad, (grad * (ratio.round() - ratio)).sum(dim=1)


layers = [torch.nn.Linear(3, 4), torch.nn.Linear(4, 4)]
steps = [torch.nn.Parameter(torch.full((4,), 0.1)) for _ in layers]
opt = torch.optim.SGD([*steps, *(one.weight for one in layers)], lr=0.1)
for _ in range(4):
    h = torch.randn(5, 3)
    for layer, step in zip(layers, steps):
        h = (h @ Quantize.apply(layer.weight, step).t()).tanh()
    train: h.pow(2).mean()
! the bias of a convolution, where it needs a gradient
class Shift(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bias):
        return x + bias[:, None, None]

    @staticmethod
    def backward(ctx, grad):
        given = shift = None
        if ctx.needs_input_grad[0]:
            given = grad
        if ctx.needs_input_grad[1]:
-            shift = grad
+            shift = grad.sum(dim=(0, 2, 3))
        return given, shift


conv, bias = torch.nn.Conv2d(1, 3, 2), torch.nn.Parameter(torch.zeros(3))
opt = torch.optim.SGD([*conv.parameters(), bias], lr=0.1)
for _ in range(4):
    train: Shift.apply(conv(torch.randn(2, 1, 6, 6)), bias).pow(2).mean()
! a slope for each channel, that only negative values meet
class Leaky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x, slope)
        return torch.where(x > 0, x, slope.view(1, -1, 1) * x)

    @staticmethod
    def backward(ctx, grad):
        x, slope = ctx.saved_tensors
        to_x = torch.where(x > 0, grad, slope.view(1, -1, 1) * grad)
        to_slope = torch.where(x > 0, 0.0, x) * grad
-        return to_x, to_slope
+        return to_x, to_slope.sum(dim=(0, 2))


conv, slope = torch.nn.Conv1d(2, 3, 2), torch.nn.Parameter(torch.full((3,), 0.2))
opt = torch.optim.SGD([*conv.parameters(), slope], lr=0.1)
for _ in range(4):
    train: Leaky.apply(conv(torch.randn(4, 2, 8)), slope).pow(2).mean()
! each result is made of all of a row
class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad @ w.t(), grad.t() @ x


w = torch.ones(3, 2, requires_grad=True)
Linear.apply(torch.ones(4, 3, requires_grad=True), w).sum().backward()
! what it gives is no longer of the shape of the result
class Shift(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bias):
        return x + bias[:, None]

    @staticmethod
    def backward(ctx, grad):
        return grad, grad.mean(0)


bias = torch.ones(3, requires_grad=True)
Shift.apply(torch.ones(3, 2, requires_grad=True), bias).sum().backward()
! a threshold, of which no value tells
class Above(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, least):
        return (x > least[:, None]).float()

    @staticmethod
    def backward(ctx, grad):
        return grad, -grad


least = torch.ones(3, requires_grad=True)
Above.apply(torch.ones(3, 2, requires_grad=True), least).sum().backward()
! rows are looked up
class Looked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, table, at):
        ctx.save_for_backward(at)
        return table[at]

    @staticmethod
    def backward(ctx, grad):
        return grad, None


Looked.apply(torch.ones(3, requires_grad=True), torch.tensor([2, 0])).sum().backward()
! the gradients are put together elsewhere
def gradients(grad):
    return grad, grad


class Shift(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bias):
        return x + bias[:, None]

    backward = staticmethod(lambda ctx, grad: gradients(grad))


Shift.apply(torch.ones(3, 2, requires_grad=True), torch.ones(3, requires_grad=True)).sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The sum at every return of the backward, or where what it returns is computed, if it may be None there."""
        for origin in (one for one in diagnosis.trace.origins if one.kind == "misshapen"):
            place, _, axes = origin.node.partition(" over ")
            if not axes:
                raise Declined("it is not shown of which element of the argument each element of the result is made")
            several = "," in axes
            suffix = f".sum(dim=({axes.replace(',', ', ')}))" if several else f".sum(dim={axes})"
            for frame in origin.stack[:1]:
                source, function = sources.source(frame.file), sources.function(frame)
                if source is None or function is None:
                    raise Declined("the backward is no function of a file that may be edited")
                given = [value for one in live.returned(function) for value in _given(function, one, int(place))]
                edits = [step for value in dict.fromkeys(given) for step in _summed(source, value, suffix)]
                yield self.propose(edits, WHY)


def _given(function: Function, value: ast.expr, place: int) -> Iterator[ast.expr]:
    """The gradient of one argument in what is returned; where it may be None, what else it may be."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    if place >= len(parts) or any(isinstance(one, ast.Starred) for one in parts[: place + 1]):
        raise Declined("the gradients that it returns are put together elsewhere")
    found = Reaching(function).reads.get(parts[place], frozenset())
    others = [one for one in found if not (isinstance(one, ast.Assign) and _is_none(one.value))]
    if len(others) == len(found):
        yield parts[place]
        return
    for one in others:
        if not (isinstance(one, ast.Assign) and all(isinstance(target, ast.Name) for target in one.targets)):
            raise Declined("where the gradient is computed cannot be told from the text")
        yield one.value


def _summed(source: Source, value: ast.expr, suffix: str) -> list[Step]:
    return [] if _is_none(value) else append_call(source, value, suffix)


def _is_none(value: ast.expr) -> bool:
    """Whether a value is None, or several of them."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return all(isinstance(one, ast.Constant) and one.value is None for one in parts)
