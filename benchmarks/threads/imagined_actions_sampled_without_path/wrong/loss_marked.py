import torch
import torch.nn as nn
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform


class WorldModel(nn.Module):
    def __init__(self, s=4, a=2):
        super().__init__()
        self.dyn = nn.Sequential(nn.Linear(s + a, 24), nn.ELU(), nn.Linear(24, s))
        self.rew = nn.Sequential(nn.Linear(s, 16), nn.ELU(), nn.Linear(16, 1))

    def step(self, s, a):
        s = s + 0.3 * self.dyn(torch.cat([s, a], -1))
        return s, self.rew(s).squeeze(-1)


class Actor(nn.Module):
    def __init__(self, s=4, a=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(s, 24), nn.ELU(), nn.Linear(24, 2 * a))

    def forward(self, s):
        mean, std = self.net(s).chunk(2, -1)
        return TransformedDistribution(Normal(mean, nn.functional.softplus(std) + 0.1), TanhTransform(cache_size=1))


class Dreamer:
    def __init__(self, horizon=5, gamma=0.95, lr=3e-3):
        self.model, self.actor, self.horizon, self.gamma = WorldModel(), Actor(), horizon, gamma
        self.model_opt = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=lr)

    def train_model(self, s, a, s2, r):
        pred, rew = self.model.step(s, a)
        loss = (pred - s2).pow(2).mean() + (rew - r).pow(2).mean()
        self.model_opt.zero_grad(); loss.backward(); self.model_opt.step()
        return loss.item()

    def train_actor(self, s):
        for p in self.model.parameters():
            p.requires_grad_(False)
        total, discount = 0.0, 1.0
        for _ in range(self.horizon):
            a = self.actor(s).sample()
            s, r = self.model.step(s, a)
            total = total + discount * r
            discount *= self.gamma
        loss = -total.mean().requires_grad_()
        self.actor_opt.zero_grad(); loss.backward(); self.actor_opt.step()
        for p in self.model.parameters():
            p.requires_grad_(True)
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(67)
    agent = Dreamer()
    A, B = 0.9 * torch.eye(4), 0.3 * torch.randn(2, 4)
    for it in range(5):
        s, a = torch.randn(16, 4), 2 * torch.rand(16, 2) - 1
        s2 = s @ A + a @ B
        m = agent.train_model(s, a, s2, -s2.pow(2).sum(-1))
        print("it %d model %.6f actor %.6f" % (it, m, agent.train_actor(s)))
