"""Autograd function whose instance is called, as torch before 1.5 had it.

## What it does
Makes `forward` and `backward` static and calls `apply`; what the constructor was given becomes an argument of it. Where
an object keeps something from call to call, such as a counter, it stays that object, and calls a function with itself.

## Why autograd fails
Each call has a node of its own in the graph, which torch makes and hands to the static methods as `ctx`. An instance
could not be the node of several calls.

## Fix safety
Safe where every gradient is the one that the methods of the instance give.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax.edits.instances import Legacy, applied, instances

WHY = "torch then makes a node for each call, and gives it to the static methods."
KEPT = "What the object keeps from call to call stays in it; torch makes a node for each call."
ONLY = "No gradient comes back through it, as it has no backward."


class FunctionCalledAsInstance(Rule):
    code, name = "AG426", "function-called-as-instance"
    title = "Make the methods static, and call apply"
    causes = frozenset({Cause.LEGACY_FUNCTION})
    tier = Tier.ANSWER
    usual = ("defined", "make forward and backward static, with ctx as their first parameter, and call apply")
    examples = Example.each("""\
from torch.autograd import Function
body, domain = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*body.parameters(), *domain.parameters()], lr=0.1)
! the strength of a gradient reversal
class Reverse(Function):
-    def __init__(self, strength, scale=1.0):
-        super().__init__()
-        self.strength = strength * scale
-
-    def forward(self, x):
+    @staticmethod
+    def forward(ctx, x, strength, scale=1.0):
+        ctx.strength = strength * scale
        return x.view_as(x)

-    def backward(self, grad):
-        return grad * -self.strength
+    @staticmethod
+    def backward(ctx, grad):
+        return grad * -ctx.strength, None, None


for _ in range(4):
-    train: domain(Reverse(0.5)(body(torch.randn(5, 3)).tanh())).pow(2).mean()
+    train: domain(Reverse.apply(body(torch.randn(5, 3)).tanh(), 0.5)).pow(2).mean()
! what is saved for backward, and an instance that a module keeps
class Product(Function):
-    def forward(self, x, w):
-        self.save_for_backward(x, w)
+    @staticmethod
+    def forward(ctx, x, w):
+        ctx.save_for_backward(x, w)
        return x * w

-    def backward(self, grad):
-        x, w = self.saved_tensors
-        return (grad * w if self.needs_input_grad[0] else None), (grad * x).sum(0)
+    @staticmethod
+    def backward(ctx, grad):
+        x, w = ctx.saved_tensors
+        return (grad * w if ctx.needs_input_grad[0] else None), (grad * x).sum(0)


class Weighed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
-        self.product = Product()
+        self.product = Product.apply

    def forward(self, x):
        return self.product(x, self.weight)


weighed = Weighed()
opt.add_param_group({"params": weighed.parameters()})
for _ in range(4):
    train: domain(weighed(body(torch.randn(5, 3)))).pow(2).mean()
! a reversal that grows with its calls
+class ReverseFunction(Function):
+    @staticmethod
+    def forward(ctx, x, layer):
+        ctx.layer = layer
+        return layer.forward(x)
+
+    @staticmethod
+    def backward(ctx, grad):
+        return ctx.layer.backward(grad), None
+
+
-class Reverse(Function):
+class Reverse:
    def __init__(self, most=1.0):
        self.most, self.calls = most, 0

+    def __call__(self, x):
+        return ReverseFunction.apply(x, self)
+
    def forward(self, x):
        self.calls += 1
        return x * 1.0

    def backward(self, grad):
        return -self.most * self.calls / (1 + self.calls) * grad


reverse = Reverse()
for _ in range(4):
    train: domain(reverse(body(torch.randn(5, 3)))).pow(2).mean()
! a counter, and what is saved for backward
+class SteepFunction(Function):
+    @staticmethod
+    def forward(ctx, x, w, layer):
+        ctx.layer = layer
+        return layer.forward(ctx, x, w)
+
+    @staticmethod
+    def backward(ctx, grad):
+        return *ctx.layer.backward(ctx, grad), None
+
+
-class Steep(Function):
+class Steep:
    calls = 0

+    def __call__(self, x, w):
+        return SteepFunction.apply(x, w, self)
+
-    def forward(self, x, w):
+    def forward(self, ctx, x, w):
        self.calls += 1
-        self.save_for_backward(x, w)
+        ctx.save_for_backward(x, w)
        return x * w

-    def backward(self, grad):
-        x, w = self.saved_tensors
+    def backward(self, ctx, grad):
+        x, w = ctx.saved_tensors
        return self.calls * grad * w, (grad * x).sum(0)


steep, w = Steep(), torch.ones(4, requires_grad=True)
opt.add_param_group({"params": w})
for _ in range(4):
    train: domain(steep(body(torch.randn(5, 3)), w)).pow(2).mean()
! the methods are static already
class Negative(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -grad


for _ in range(4):
-    train: domain(Negative()(body(torch.randn(5, 3)))).pow(2).mean()
+    train: domain(Negative.apply(body(torch.randn(5, 3)))).pow(2).mean()
! what the constructor is given reaches no static method
class Reverse(Function):
    def __init__(self, strength):
        self.strength = strength

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -grad


domain(Reverse(0.5)(body(torch.randn(5, 3)))).pow(2).mean().backward()
! how many gradients its backward gives cannot be told
class Both(Function):
    calls = 0

    def forward(self, x, w):
        self.calls += 1
        return x + w

    def backward(self, grad):
        given = grad, grad.sum(0)
        return given


domain(Both()(body(torch.randn(5, 3)), torch.ones(4, requires_grad=True))).pow(2).mean().backward()
! it only chooses among results, and has no backward
-class Best(Function):
+class Best:
    most = 2

+    def __call__(self, scores):
+        with torch.no_grad():
+            return self.forward(scores)
+
    def forward(self, scores):
        return scores.topk(self.most, 0)[0]


best = Best()
for _ in range(4):
    out = domain(body(torch.randn(5, 3)))
    print(best(out).tolist())
    train: out.pow(2).mean()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Static methods and `apply`, where no instance keeps anything; else a function beside the object."""
        for origin in diagnosis.trace.origins:
            for frame in origin.stack[:1]:
                source, forward = sources.source(frame.file), sources.function(frame)
                kind = source.parent(forward) if source is not None and forward is not None else None
                if source is None or not isinstance(kind, ast.ClassDef):
                    raise Declined("the function is no class of a file that may be edited")
                script = next(sources.files(diagnosis.failure.stack[::-1]), source)
                files = {one.path: one for one in (source, *sources.imported_by(script))}
                yield from self._of(source, kind, [*files.values()], static=origin.kind == "static")

    def _of(self, source: Source, kind: ast.ClassDef, files: list[Source], *, static: bool) -> Iterator[Proposal]:
        legacy = Legacy(source, kind)
        try:
            made = instances(source, kind.name, files)
            yield self.propose(applied(made) if static else legacy.static(made), WHY)
            if static or len(made) == 1:
                return  # of several places some may never run
        except Declined:
            if static:
                raise
        if "backward" in legacy.methods:
            title = "Call a function with the object that keeps its state"
            yield self.propose(legacy.beside(), KEPT, title=title, later=1)
        else:
            yield self.propose(legacy.plain(), ONLY, title="Call its forward without gradients", later=1)
