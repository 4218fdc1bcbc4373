import typing as tp

import torch
from torch import nn
from torch.nn import functional as F


class VectorQuantization(nn.Module):
    """One codebook: nearest entry for every frame."""

    def __init__(self, dim, bins):
        super().__init__()
        self.embed = nn.Parameter(torch.randn(bins, dim) * 0.5)

    def forward(self, x):
        with torch.no_grad():
            idx = torch.cdist(x.reshape(-1, x.shape[-1]), self.embed).argmin(1).view(x.shape[:-1])
        return F.embedding(idx, self.embed), idx


class ResidualVectorQuantization(nn.Module):
    """Algorithm 1 of SoundStream: each stage quantizes what the stages before have left over."""

    def __init__(self, dim, n_q, bins):
        super().__init__()
        self.layers = nn.ModuleList(VectorQuantization(dim, bins) for _ in range(n_q))

    def forward(self, x: torch.Tensor) -> tp.Tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        quantized_out, residual = torch.zeros_like(x), x
        commit, codebook, codes = [], [], []
        for layer in self.layers:
            quantized, idx = layer(residual)
            commit.append(F.mse_loss(residual, quantized.detach()))
            codebook.append(F.mse_loss(quantized, residual.detach()))
            residual = residual - quantized.detach()
            quantized_out = quantized_out + quantized
            codes.append(idx)
        quantized_out = x + (quantized_out - x).detach()     # straight-through
        return quantized_out, torch.stack(codes), sum(commit) / len(commit), sum(codebook)
