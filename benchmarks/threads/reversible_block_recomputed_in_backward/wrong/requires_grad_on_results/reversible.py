import torch
import torch.nn as nn


class _RevFunction(torch.autograd.Function):
    """y1 = x1 + f(x2), y2 = x2 + g(y1): inputs are recovered in backward, nothing is stored inside"""

    @staticmethod
    def forward(ctx, x1, x2, block, *params):
        y1 = x1 + block.f(x2)
        y2 = x2 + block.g(y1)
        ctx.block = block
        ctx.params = params
        ctx.save_for_backward(y1.detach(), y2.detach())
        return y1, y2

    @staticmethod
    def backward(ctx, d1, d2):
        block, params = ctx.block, ctx.params
        y1, y2 = ctx.saved_tensors
        # recover the inputs
        x2 = y2 - block.g(y1)
        x1 = y1 - block.f(x2)
        # and run the block again for the gradients
        x1 = x1.detach().requires_grad_()
        x2 = x2.detach().requires_grad_()
        z1 = (x1 + block.f(x2)).requires_grad_()
        z2 = (x2 + block.g(z1)).requires_grad_()
        grads = torch.autograd.grad((z1, z2), (x1, x2) + params, (d1, d2), allow_unused=True)
        return (grads[0], grads[1], None) + grads[2:]


class RevBlock(nn.Module):
    def __init__(self, f, g):
        super().__init__()
        self.f = f
        self.g = g

    def forward(self, x1, x2):
        return _RevFunction.apply(x1, x2, self, *self.parameters())


class RevSequence(nn.Module):
    def __init__(self, dim, depth, hidden):
        super().__init__()

        def branch():
            return nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

        self.blocks = nn.ModuleList(RevBlock(branch(), branch()) for _ in range(depth))

    def forward(self, x):
        x1, x2 = x, x
        for block in self.blocks:
            x1, x2 = block(x1, x2)
        return (x1 + x2) / 2
