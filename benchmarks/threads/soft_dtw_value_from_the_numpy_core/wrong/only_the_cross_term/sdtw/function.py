import torch
from torch.autograd import Function

from .core import compute_softdtw, compute_softdtw_backward


class _SoftDTW(Function):
    """D (batch, N, M) -> (batch,)"""

    @staticmethod
    def forward(ctx, D, gamma):
        R = compute_softdtw(D.detach().cpu().numpy(), gamma)
        ctx.gamma, ctx.R = gamma, R
        ctx.save_for_backward(D)
        return torch.as_tensor(R[:, -2, -2], dtype=D.dtype)

    @staticmethod
    def backward(ctx, grad_output):
        D, = ctx.saved_tensors
        E = compute_softdtw_backward(D.detach().cpu().numpy(), ctx.R, ctx.gamma)
        return grad_output.view(-1, 1, 1) * torch.as_tensor(E, dtype=D.dtype), None
