import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)


class Config:
    T = 40
    point_dim = 2
    hidden = 48
    time_dim = 16
    lr = 2e-3
    batch_size = 32
    epochs = 3
    beta_start = 1e-4
    beta_end = 0.05


def sinusoidal(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(10000.0) * torch.arange(half) / (half - 1))
    args = t[:, None].float() * freqs[None]
    return torch.cat([args.sin(), args.cos()], dim=-1)


class Block(nn.Module):
    def __init__(self, width, time_dim):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.shift = nn.Linear(time_dim, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, h, temb):
        return h + F.silu(self.lin(self.norm(h)) + self.shift(temb))


class NoisePredictor(nn.Module):
    """eps_theta(x_t, t) for 2-d points"""

    def __init__(self, cfg):
        super().__init__()
        self.time_mlp = nn.Sequential(
            nn.Linear(cfg.time_dim, cfg.time_dim * 2),
            nn.SiLU(),
            nn.Linear(cfg.time_dim * 2, cfg.time_dim),
        )
        # there are only T different steps, so embed them all and look them up later
        steps = sinusoidal(torch.arange(cfg.T), cfg.time_dim)
        self.time_table = self.time_mlp(steps)

        self.inp = nn.Linear(cfg.point_dim, cfg.hidden)
        self.blocks = nn.ModuleList([Block(cfg.hidden, cfg.time_dim) for _ in range(2)])
        self.out = nn.Linear(cfg.hidden, cfg.point_dim)

    def forward(self, x, t):
        temb = self.time_table[t]
        h = self.inp(x)
        for block in self.blocks:
            h = block(h, temb)
        return self.out(h)


class Diffusion:
    def __init__(self, cfg):
        self.T = cfg.T
        self.beta = torch.linspace(cfg.beta_start, cfg.beta_end, cfg.T)
        self.alpha = 1.0 - self.beta
        self.alpha_bar = torch.cumprod(self.alpha, 0)

    def q_sample(self, x0, t, eps):
        ab = self.alpha_bar[t][:, None]
        return ab.sqrt() * x0 + (1 - ab).sqrt() * eps

    @torch.no_grad()
    def sample(self, model, n, dim):
        x = torch.randn(n, dim)
        for i in reversed(range(self.T)):
            t = torch.full((n,), i, dtype=torch.long)
            eps = model(x, t)
            x = (x - self.beta[i] / (1 - self.alpha_bar[i]).sqrt() * eps) / self.alpha[i].sqrt()
            if i > 0:
                x = x + self.beta[i].sqrt() * torch.randn_like(x)
        return x


def two_moons(n):
    a = torch.rand(n) * math.pi
    upper = torch.stack([a.cos(), a.sin()], 1)
    lower = torch.stack([1 - a.cos(), 0.5 - a.sin()], 1)
    pick = (torch.rand(n, 1) > 0.5).float()
    return pick * upper + (1 - pick) * lower + 0.05 * torch.randn(n, 2)


def train(cfg):
    data = two_moons(128)
    model = NoisePredictor(cfg)
    diffusion = Diffusion(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    print("parameters:", sum(p.numel() for p in model.parameters()))

    for epoch in range(cfg.epochs):
        perm = torch.randperm(len(data))
        running = 0.0
        for idx in perm.split(cfg.batch_size):
            x0 = data[idx]
            t = torch.randint(0, cfg.T, (len(x0),))
            eps = torch.randn_like(x0)
            pred = model(diffusion.q_sample(x0, t, eps), t)
            loss = F.mse_loss(pred, eps)

            opt.zero_grad()
            loss.backward(retain_graph=True)
            opt.step()
            running += loss.item() * len(x0)
        print(f"epoch {epoch}: {running / len(data):.5f}")
    return model, diffusion


if __name__ == "__main__":
    cfg = Config()
    model, diffusion = train(cfg)
    pts = diffusion.sample(model, 64, cfg.point_dim)
    print("sample mean %.4f std %.4f" % (pts.mean().item(), pts.std().item()))
