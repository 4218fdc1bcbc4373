import torch
from torch import nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable


class _SharpSoftplus(Function):
    """softplus(beta x) / beta that keeps only its input"""

    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return torch.nn.functional.softplus(x, beta=beta)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * torch.sigmoid(ctx.beta * x), None


class SharpSoftplus(nn.Module):
    def __init__(self, beta=10.0):
        super().__init__()
        self.beta = beta

    def forward(self, x):
        return _SharpSoftplus.apply(x, self.beta)
