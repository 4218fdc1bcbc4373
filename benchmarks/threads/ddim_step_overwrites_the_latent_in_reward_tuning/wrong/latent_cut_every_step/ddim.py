import torch


class Schedule:
    def __init__(self, n):
        betas = torch.linspace(1e-3, 0.15, n)
        self.n = n
        self.abar = torch.cumprod(1 - betas, dim=0)

    def add_noise(self, x0, eps, t):
        a = self.abar[t].unsqueeze(-1)
        return a.sqrt() * x0 + (1 - a).sqrt() * eps


def step(x, eps, a_now, a_next):
    """One deterministic DDIM update. x: (n, d) current sample, eps: predicted noise."""
    x = x.detach().clone()
    x -= (1 - a_now).sqrt() * eps
    x *= (a_next / a_now).sqrt()
    x += (1 - a_next).sqrt() * eps
    return x


def sample(net, schedule, n, n_steps, dim=2):
    x = torch.randn(n, dim)
    ts = torch.linspace(schedule.n - 1, 0, n_steps + 1).long()
    for t, t_next in zip(ts[:-1], ts[1:]):
        eps = net(x, t.expand(n))
        x = step(x, eps, schedule.abar[t], schedule.abar[t_next])
    return x
