"""Fused attention in what is differentiated twice

## What it does
Has the attention computed by plain operations: `with torch.nn.attention.sdpa_kernel(SDPBackend.MATH):` around its call,
or around that of a layer of torch that attends; where no call is found, fused attention is switched off for all.

## Why autograd fails
The backward of a fused kernel is one operation, which has no derivative of its own. A penalty on a gradient, an inner
step or a force that is trained asks for it.

## Fix safety
The same function is computed, with the same gradients: safe where the run shows them equal to those of attention by
plain operations, which take more memory.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import ensure_import, insert_before, wrap

WHY = "Plain operations have derivatives of derivatives; a fused kernel has not."
_FUNCTION = frozenset({"nn.functional.scaled_dot_product_attention"})
_LAYERS = frozenset({
    "nn.MultiheadAttention", "nn.Transformer", "nn.TransformerDecoder", "nn.TransformerDecoderLayer",
    "nn.TransformerEncoder", "nn.TransformerEncoderLayer",
})  # fmt: skip
_SWITCHES = ("flash", "mem_efficient", "cudnn")


class FusedAttentionDifferentiated(Rule):
    code, name = "AG427", "fused-attention-differentiated"
    title = "Compute the attention by plain operations"
    causes = frozenset({Cause.DIFFERENTIATED_ONCE})
    tier = Tier.MEANT
    examples = Example.each("""\
import torch.nn.functional as F
! inner steps that are trained through
qkv = torch.nn.Linear(4, 12)
opt = torch.optim.SGD(qkv.parameters(), lr=0.1)


def attend(x, w, b):
    q, k, v = F.linear(x, w, b).view(2, 5, 1, 12).transpose(1, 2).chunk(3, dim=-1)
-    return F.scaled_dot_product_attention(q, k, v)
+    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
+        return F.scaled_dot_product_attention(q, k, v)


for _ in range(4):
    x, fast = torch.randn(2, 5, 4), list(qkv.parameters())
    grads = torch.autograd.grad(attend(x, *fast).pow(2).mean(), fast, create_graph=True)
    fast = [p - 0.1 * g for p, g in zip(fast, grads)]
    train: (attend(x, *fast) - 1).pow(2).mean()
! a penalty on the slope of a critic that has a layer of torch's
class Critic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(4, 1, batch_first=True)
        self.score = torch.nn.Linear(4, 1)

    def forward(self, x):
-        seen, _ = self.attention(x, x, x, need_weights=False)
+        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
+            seen, _ = self.attention(x, x, x, need_weights=False)
        return self.score(seen.mean(1))


critic = Critic()
opt = torch.optim.SGD(critic.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(3, 5, 4).requires_grad_()
    (slope,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    train: (critic(x).mean() + (slope.flatten(1).norm(2, 1) - 1).pow(2).mean())
! the layers stand in a sequence
layers = [torch.nn.TransformerEncoderLayer(4, 1, 8, dropout=0.0, batch_first=True) for _ in range(2)]
critic = torch.nn.Sequential(*layers, torch.nn.Linear(4, 1))
opt = torch.optim.SGD(critic.parameters(), lr=0.1)
+torch.backends.cuda.enable_flash_sdp(False)
+torch.backends.cuda.enable_mem_efficient_sdp(False)
+torch.backends.cuda.enable_cudnn_sdp(False)
for _ in range(4):
    x = torch.randn(3, 5, 4).requires_grad_()
    (slope,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    train: (critic(x).mean() + (slope.flatten(1).norm(2, 1) - 1).pow(2).mean())
! a backward of the user's own is marked as one that is not differentiated again
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return 3 * ctx.saved_tensors[0].pow(2) * grad


x = torch.ones(3, requires_grad=True)
(slope,) = torch.autograd.grad(Cube.apply(x).pow(2).sum(), x, create_graph=True)
slope.sum().backward()
! a function of the user's has the name, and its backward is marked
class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        ctx.save_for_backward(v)
        return q * k * v

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0], None, None


def scaled_dot_product_attention(q, k, v):
    return Attend.apply(q, k, v)


q = torch.ones(3, requires_grad=True)
out = scaled_dot_product_attention(q, torch.ones(3), torch.ones(3))
(slope,) = torch.autograd.grad(out.pow(2).sum(), q, create_graph=True)
slope.sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Around every call that attends; else, where a layer that attends is made, for the whole script."""
        files = sources.reached(diagnosis.failure.stack)
        made = {one: [*calls.of_torch(one, _LAYERS)] for one in files}
        found = {one: dict.fromkeys(one.statement(call) for call in _attends(one, made[one])) for one in files}
        edits = []
        for source, statements in found.items():
            if statements:
                torch, imports = ensure_import(source, "torch")
                where = f"{torch}.nn.attention"
                header = f"with {where}.sdpa_kernel({where}.SDPBackend.MATH):"
                edits += [*imports, *(step for one in statements for step in wrap(source, [one], header))]
        if edits:
            yield self.propose(edits, WHY)
        if any(made.values()) or edits:
            yield from self._for_all(diagnosis, sources)

    def _for_all(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The switches of the fused kernels, off, before what the script runs."""
        for source, node in sources.innermost([diagnosis.failure.stack[-1:]]):
            first = source.statement(next(iter([*blocks.loops(source, node)][::-1]), node))
            torch, imports = ensure_import(source, "torch")
            lines = [f"{torch}.backends.cuda.enable_{name}_sdp(False)" for name in _SWITCHES]
            title = "Switch fused attention off"
            yield self.propose([*imports, *insert_before(source, first, lines)], WHY, title=title, later=3)


def _attends(source: Source, made: list[ast.Call]) -> Iterator[ast.Call]:
    """The calls of the function, and of variables that are given a layer that attends."""
    yield from calls.of_torch(source, _FUNCTION)
    assigned = (one for one in map(source.statement, made) if isinstance(one, ast.Assign))
    paths = {ast.unparse(part) for one in assigned for part, value in names.paired(one) if value in made}
    for node in source.walk():
        if isinstance(node, ast.Call) and ast.unparse(node.func) in paths:
            yield node
