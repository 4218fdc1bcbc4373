import torch
import torch.nn as nn
import torch.nn.functional as F


class MaskedLinear(nn.Linear):
    def __init__(self, n_in, n_out, mask):
        super().__init__(n_in, n_out)
        self.register_buffer("mask", mask.float())

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias)


class MADE(nn.Module):
    """Mean and log scale of each dimension from those before it."""

    def __init__(self, dim, hidden=18):
        super().__init__()
        order, inner = torch.arange(dim), torch.arange(hidden) % (dim - 1)
        self.l1 = MaskedLinear(dim, hidden, inner[:, None] >= order[None])
        self.l2 = MaskedLinear(hidden, 2 * dim, order.repeat(2)[:, None] > inner[None])

    def forward(self, x):
        mu, log_s = self.l2(torch.tanh(self.l1(x))).chunk(2, 1)
        return mu, 0.5 * torch.tanh(log_s)


class MAF(nn.Module):
    def __init__(self, dim=3, layers=2):
        super().__init__()
        self.dim = dim
        self.layers = nn.ModuleList(MADE(dim) for _ in range(layers))

    def inverse(self, made, z):
        x = torch.zeros_like(z)
        for i in range(self.dim):
            mu, log_s = made(x.clone())
            x[:, i] = z[:, i] * log_s[:, i].exp() + mu[:, i]
        return x, log_s.sum(1)

    def sample(self, n):
        x = torch.randn(n, self.dim)
        log_q = -0.5 * x.pow(2).sum(1)
        for made in self.layers:
            x, log_det = self.inverse(made, x.flip(1))
            log_q = log_q - log_det
        return x, log_q


def log_target(x):
    """An unnormalised banana."""
    return -0.5 * (x[:, 0] ** 2 + (x[:, 1] - x[:, 0] ** 2) ** 2 + x[:, 2] ** 2 / 0.25)


torch.manual_seed(1705)
flow = MAF()
opt = torch.optim.Adam(flow.parameters(), lr=5e-3)
for step in range(6):
    x, log_q = flow.sample(32)
    kl = (log_q - log_target(x)).mean()
    opt.zero_grad()
    kl.backward()
    opt.step()
    print(f"step {step}: reverse KL {kl.item():.6f}")
