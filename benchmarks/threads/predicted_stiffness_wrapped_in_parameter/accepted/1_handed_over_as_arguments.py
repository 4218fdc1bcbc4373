# System identification: a network reads a short record of motion and predicts stiffness k and damping c
# of an oscillator; a differentiable simulator replays the motion with them.
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from types import SimpleNamespace as NS

cfg = NS(dt=0.05, record=12, horizon=20, bs=8, steps=7, lr=4e-3, log_grads=True, seed=6)


class Oscillator(nn.Module):
    """m x'' = -k x - c x' + b ; semi implicit Euler"""

    def __init__(self, dt):
        super().__init__()
        self.dt = dt
        self.b = nn.Parameter(torch.zeros(1))        # constant load of the rig, unknown, the same for all

    def forward(self, x, v, n, k, c):
        xs = []
        for _ in range(n):
            v = v + self.dt * (-k * x - c * v + self.b)
            x = x + self.dt * v
            xs.append(x)
        return torch.stack(xs, dim=1)


class ParameterNet(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU())
        self.head = nn.Linear(32, 2)

    def forward(self, rec):
        out = F.softplus(self.head(self.body(rec)))
        return out[:, 0] * 4, out[:, 1] * 0.5


class Identifier(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = ParameterNet(cfg.record)
        self.sim = Oscillator(cfg.dt)
        self.horizon = cfg.horizon

    def forward(self, rec, x, v):
        k, c = self.net(rec)
        return self.sim(x, v, self.horizon, k, c)


@torch.no_grad()
def experiment(cfg):
    k, c = torch.rand(cfg.bs) * 6 + 1, torch.rand(cfg.bs) * 0.6
    x, v = torch.randn(cfg.bs), torch.zeros(cfg.bs)
    xs, vs = [], []
    for _ in range(cfg.record + cfg.horizon):
        v = v + cfg.dt * (-k * x - c * v + 0.4)
        x = x + cfg.dt * v
        xs.append(x)
        vs.append(v)
    xs, vs = torch.stack(xs, 1), torch.stack(vs, 1)
    r = cfg.record
    return xs[:, :r] + 0.01 * torch.randn(cfg.bs, r), xs[:, r - 1], vs[:, r - 1], xs[:, r:]


def grad_norm(module):
    return math.sqrt(sum(p.grad.norm().item() ** 2 for p in module.parameters()))


def train(cfg):
    torch.manual_seed(cfg.seed)
    model = Identifier(cfg)
    opt = torch.optim.Adam([{'params': model.net.parameters()}, {'params': [model.sim.b], 'lr': 5 * cfg.lr}], lr=cfg.lr)
    for it in range(cfg.steps):
        rec, x, v, future = experiment(cfg)
        loss = F.mse_loss(model(rec, x, v), future)
        opt.zero_grad()
        loss.backward()
        msg = 'it %d loss %.6f load %.5f' % (it, loss.item(), model.sim.b.item())
        if cfg.log_grads:
            msg += ' |g| %.6f' % grad_norm(model.net)
        opt.step()
        print(msg)


if __name__ == '__main__':
    train(cfg)
