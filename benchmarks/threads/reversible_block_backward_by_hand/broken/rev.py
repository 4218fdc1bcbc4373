"""Reversible residual blocks: activations are recomputed from the outputs, backward is written by hand."""
import torch
import torch.nn as nn


class _RevBlock(torch.autograd.Function):

    @staticmethod
    def forward(ctx, x, f, g):
        x1, x2 = x.chunk(2, dim=-1)
        with torch.no_grad():
            y1 = x1 + f(x2)
            y2 = x2 + g(y1)
        ctx.f, ctx.g = f, g
        y = torch.cat([y1, y2], dim=-1)
        ctx.y = y.detach()
        return y

    @staticmethod
    def backward(ctx, dy):
        y1, y2 = ctx.y.chunk(2, dim=-1)
        dy1, dy2 = dy.chunk(2, dim=-1)
        del ctx.y

        with torch.enable_grad():
            y1 = y1.detach().requires_grad_()
            gy1 = ctx.g(y1)
            gy1.backward(dy2)                                   # weights of g
            dx1 = dy1 + torch.autograd.grad(gy1, y1, dy2)[0]    # and its input

        with torch.no_grad():
            x2 = y2 - gy1

        with torch.enable_grad():
            x2 = x2.detach().requires_grad_()
            fx2 = ctx.f(x2)
            fx2.backward(dx1)
            dx2 = dy2 + torch.autograd.grad(fx2, x2, dx1)[0]

        return torch.cat([dx1, dx2], dim=-1), None, None


class ReversibleBlock(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.f, self.g = f, g

    def forward(self, x):
        return _RevBlock.apply(x, self.f, self.g)


def feed_forward(dim):
    return nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.LayerNorm(2 * dim), nn.Linear(2 * dim, dim))


class ReversibleNet(nn.Module):
    def __init__(self, vocab, dim, depth, n_classes):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        half = dim // 2
        self.blocks = nn.ModuleList([ReversibleBlock(feed_forward(half), feed_forward(half)) for _ in range(depth)])
        self.head = nn.Linear(dim, n_classes)

    def forward(self, tokens):
        x = self.emb(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))
