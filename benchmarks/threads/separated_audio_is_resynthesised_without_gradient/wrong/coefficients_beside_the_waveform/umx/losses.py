import torch
from torch import nn


def magnitude(x, size):
    spec = torch.stft(x, size, size // 4, window=torch.hann_window(size), return_complex=True)
    return torch.sqrt(spec.real ** 2 + spec.imag ** 2 + 1e-7)


class MultiResolutionSTFTLoss(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes

    def forward(self, est, ref):
        loss = 0.0
        for size in self.sizes:
            a, b = magnitude(est, size), magnitude(ref, size)
            sc = torch.norm(b - a) / torch.norm(b)
            loss = loss + sc + (a.log() - b.log()).abs().mean()
        return loss / len(self.sizes)
