"""Denoising with a Walsh-Hadamard layer: transform, learned soft threshold and gains, transform back."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)
N, HIDDEN = 16, 16


def fwht(x):
    """Fast Walsh-Hadamard transform over the last dimension, which is a power of two (unnormalised)."""
    n = x.shape[-1]
    h = 1
    while h < n:
        y = x.view(-1, n // (2 * h), 2, h)
        a, b = y[:, :, 0], y[:, :, 1]
        old = a.clone()
        a += b
        b.neg_().add_(old)
        h *= 2
    return x


def inverse_fwht(c):
    """The transform is its own inverse up to its length."""
    return fwht(c) / c.shape[-1]


class WHTLayer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.threshold = nn.Parameter(torch.full((n,), 0.1))
        self.gain = nn.Parameter(torch.ones(n))

    def shrink(self, c):
        return c.sign() * F.relu(c.abs() - self.threshold.abs())

    def forward(self, h):
        c = fwht(h)
        c = self.shrink(c * self.gain)
        return inverse_fwht(c)


class Denoiser(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.inp = nn.Linear(N, HIDDEN)
        self.layers = nn.ModuleList([WHTLayer(HIDDEN) for _ in range(layers)])
        self.mix = nn.ModuleList([nn.Linear(HIDDEN, HIDDEN) for _ in range(layers)])
        self.out = nn.Linear(HIDDEN, N)

    def forward(self, x):
        h = torch.tanh(self.inp(x))
        for layer, mix in zip(self.layers, self.mix):
            h = h * 1.0
            smooth = layer(h)
            h = torch.tanh(mix(smooth) + h)
        return self.out(h)


def square_waves(n):
    """Piecewise constant signals and their noisy version."""
    level = torch.randn(n, 4).repeat_interleave(N // 4, dim=1)
    return level, level + 0.4 * torch.randn(n, N)


def main():
    model = Denoiser()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for it in range(24):
        clean, noisy = square_waves(32)
        loss = F.mse_loss(model(noisy), clean)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 6 == 5:
            sparsity = torch.stack([l.threshold.abs().mean() for l in model.layers]).mean().item()
            print(f"it {it} mse {loss.item():.5f} threshold {sparsity:.5f}")
    x = torch.randn(4, N)
    print(f"round trip {(inverse_fwht(fwht(x.clone())) - x).abs().max().item():.3f}")


if __name__ == "__main__":
    main()
