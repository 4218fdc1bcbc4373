import torch
import torch.nn as nn


def time_embedding(t, T):
    t = t.float().unsqueeze(-1) / T
    return torch.cat([t, torch.sin(6.28 * t), torch.cos(6.28 * t)], dim=-1)


class EpsNet(nn.Module):
    def __init__(self, T, hidden=48):
        super().__init__()
        self.T = T
        self.net = nn.Sequential(nn.Linear(2 + 3, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, time_embedding(t, self.T)], dim=-1))


class Diffusion:
    def __init__(self, T=12):
        self.T = T
        self.betas = torch.linspace(0.02, 0.35, T)
        self.alphas = 1 - self.betas
        self.abar = torch.cumprod(self.alphas, 0)

    def q_sample(self, x0, t, noise):
        a = self.abar[t].unsqueeze(-1)
        return a.sqrt() * x0 + (1 - a).sqrt() * noise

    def loss(self, model, x0):
        t = torch.randint(0, self.T, (len(x0),))
        noise = torch.randn(len(x0), 2)
        return (model(self.q_sample(x0, t, noise), t) - noise).pow(2).mean()

    def p_mean(self, model, x, t):
        eps = model(x, t)
        b, a, ab = self.betas[t][:, None], self.alphas[t][:, None], self.abar[t][:, None]
        return (x - b / (1 - ab).sqrt() * eps) / a.sqrt(), b

    def p_sample_loop(self, model, n, cond_fn=None, y=None):
        x = torch.randn(n, 2)
        for i in reversed(range(self.T)):
            t = torch.full((n,), i)
            mean, var = self.p_mean(model, x, t)
            if cond_fn is not None:
                mean = mean + var * cond_fn(x, t, y)
            x = mean + (var.sqrt() * torch.randn(n, 2) if i > 0 else 0)
        return x
