import math
import torch
from torch import nn


def timestep_embedding(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(100.) * torch.arange(half) / half)
    args = t[:, None].float() * freqs[None]
    return torch.cat([args.sin(), args.cos()], -1)


class ContextEncoder(nn.Module):
    """类别 + 连续属性 -> 条件向量"""

    def __init__(self, n_classes, dim):
        super().__init__()
        self.table = nn.Embedding(n_classes, dim)
        self.attr = nn.Linear(2, dim)
        self.out = nn.Sequential(nn.Linear(dim, dim), nn.Tanh())

    def forward(self, y, attr):
        return self.out(self.table(y) + self.attr(attr))


class ResBlock(nn.Module):
    def __init__(self, width, cond):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.film = nn.Linear(cond, 2 * width)
        self.fc1, self.fc2 = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, emb):
        scale, shift = self.film(emb).chunk(2, -1)
        h = self.norm(x) * (1 + scale) + shift
        return x + self.fc2(torch.nn.functional.silu(self.fc1(h)))


class Denoiser(nn.Module):
    def __init__(self, x_dim, n_classes, width=32, cond=16, blocks=2):
        super().__init__()
        self.cond = cond
        self.context = ContextEncoder(n_classes, cond)
        self.null_context = nn.Parameter(0.1 * torch.randn(cond))   # 无条件时使用的可学习向量
        self.time = nn.Sequential(nn.Linear(cond, cond), nn.SiLU())
        self.inp, self.outp = nn.Linear(x_dim, width), nn.Linear(width, x_dim)
        self.blocks = nn.ModuleList(ResBlock(width, 2 * cond) for _ in range(blocks))

    def forward(self, x, t, y, attr, drop=None):
        c = self.context(y, attr)
        if drop is not None:
            # classifier-free guidance: 以概率 p 丢掉条件
            c = torch.where(drop[:, None], self.null_context, c)
        emb = torch.cat([self.time(timestep_embedding(t, self.cond)), c], -1)
        h = self.inp(x)
        for block in self.blocks:
            h = block(h, emb)
        return self.outp(h)
