"""
Emission tomography with a coordinate network: counts ~ Poisson(A exp(f(x)) + background).
フォワードモデルは小さな平行投影。
"""
import math
import torch
import torch.nn as nn
from torch.autograd import Function


class _TruncExp(Function):
    """exp whose backward does not overflow"""

    @staticmethod
    def forward(ctx, x):
        y = torch.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y.clamp(max=math.exp(15))


trunc_exp = _TruncExp.apply


def projector(size, n_angles):
    """行列 A: 各角度・各ビンの画素の重み"""
    c = torch.arange(size) - (size - 1) / 2
    yy, xx = torch.meshgrid(c, c, indexing="ij")
    rows = []
    for k in range(n_angles):
        a = math.pi * k / n_angles
        t = (xx * math.cos(a) + yy * math.sin(a)).flatten()
        bins = c.view(-1, 1)
        rows.append((1 - (t.view(1, -1) - bins).abs()).clamp(min=0))
    return torch.cat(rows), torch.stack([xx, yy], -1).view(-1, 2) / size


def phantom(size):
    c = torch.arange(size) - (size - 1) / 2
    yy, xx = torch.meshgrid(c, c, indexing="ij")
    body = (xx ** 2 + yy ** 2 < (0.42 * size) ** 2).float()
    hot = ((xx - 2) ** 2 + (yy + 1) ** 2 < 4).float()
    return (0.3 * body + 1.2 * hot).flatten()


class ActivityField(nn.Module):
    """座標 -> 放射能, 体素ごとの散乱も学習する"""

    def __init__(self, n_voxels, n_freq=3, hidden=32):
        super().__init__()
        self.freqs = 2.0 ** torch.arange(n_freq) * math.pi
        self.net = nn.Sequential(nn.Linear(4 * n_freq, hidden), nn.ReLU(),
                                 nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.log_scatter = nn.Parameter(torch.full((n_voxels,), -3.0))

    def encode(self, x):
        p = x.unsqueeze(-1) * self.freqs
        return torch.cat([p.sin(), p.cos()], -1).flatten(1)

    def forward(self, x):
        activity = trunc_exp(self.net(self.encode(x)).squeeze(-1))
        # a little scattered activity everywhere
        activity = activity + self.log_scatter.exp()
        return activity


def poisson_nll(rate, counts):
    return (rate - counts * torch.log(rate + 1e-6)).mean()


def total_variation(img, size):
    img = img.view(size, size)
    return (img[1:] - img[:-1]).abs().mean() + (img[:, 1:] - img[:, :-1]).abs().mean()


def main(size=12, n_angles=8, steps=80):
    torch.manual_seed(5)
    A, coords = projector(size, n_angles)
    truth = phantom(size)
    counts = torch.poisson(20 * A @ truth) / 20
    field = ActivityField(size * size)
    opt = torch.optim.Adam(field.parameters(), lr=1e-2)
    for it in range(steps):
        opt.zero_grad()
        image = field(coords)
        loss = poisson_nll(A @ image, counts) + 0.02 * total_variation(image, size)
        loss.backward()
        opt.step()
        if it % 20 == 0 or it == steps - 1:
            err = (image.detach() - truth).pow(2).mean().sqrt()
            print(f"{it:3d}  nll {loss.item():.6f}  rmse {err.item():.6f}  scatter {field.log_scatter.exp().mean().item():.6f}")


if __name__ == "__main__":
    main()
