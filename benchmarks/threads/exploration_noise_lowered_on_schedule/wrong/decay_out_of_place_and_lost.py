"""A2C with a Gaussian policy; its spread is learned, and lowered a little on a schedule besides."""
from dataclasses import dataclass, field
from typing import List

import torch
import torch.nn as nn
from torch.distributions import Normal


@dataclass
class Config:
    n_envs: int = 8
    n_steps: int = 5
    updates: int = 10
    gamma: float = 0.95
    lr: float = 7e-3
    ent_coef: float = 0.003
    init_log_std: float = 0.0
    std_decay: float = 0.08
    std_decay_every: int = 2
    min_log_std: float = -0.3
    seed: int = 13


class Servo:
    """Move a cart to a moving mark."""

    def __init__(self, n):
        self.n = n
        self.reset()

    def reset(self):
        self.x = torch.randn(self.n, 2)
        self.mark = torch.randn(self.n, 2)
        return self.obs()

    def obs(self):
        return torch.cat([self.x, self.mark], 1)

    def step(self, a):
        self.x = self.x + 0.3 * a.clamp(-2, 2)
        self.mark = 0.98 * self.mark
        reward = -((self.x - self.mark) ** 2).sum(1) - 0.01 * (a ** 2).sum(1)
        return self.obs(), reward


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim, init_log_std):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh())
        self.mu = nn.Linear(32, act_dim)
        self.v = nn.Linear(32, 1)
        self.log_std = nn.Parameter(torch.full((act_dim,), init_log_std))

    def forward(self, obs):
        h = self.body(obs)
        return Normal(self.mu(h), self.log_std.exp()), self.v(h).squeeze(-1)


@dataclass
class Rollout:
    log_probs: List[torch.Tensor] = field(default_factory=list)
    values: List[torch.Tensor] = field(default_factory=list)
    entropies: List[torch.Tensor] = field(default_factory=list)
    rewards: List[torch.Tensor] = field(default_factory=list)


class A2C:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.env = Servo(cfg.n_envs)
        self.policy = ActorCritic(4, 2, cfg.init_log_std)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=cfg.lr)
        self.obs = self.env.reset()

    def collect(self):
        roll = Rollout()
        for _ in range(self.cfg.n_steps):
            dist, value = self.policy(self.obs)
            action = dist.sample()
            self.obs, reward = self.env.step(action)
            roll.log_probs.append(dist.log_prob(action).sum(-1))
            roll.entropies.append(dist.entropy().sum(-1))
            roll.values.append(value)
            roll.rewards.append(reward)
        return roll

    def update(self, roll):
        with torch.no_grad():
            ret = self.policy(self.obs)[1]
        returns = []
        for r in reversed(roll.rewards):
            ret = r + self.cfg.gamma * ret
            returns.insert(0, ret)
        returns, values = torch.stack(returns), torch.stack(roll.values)
        adv = (returns - values).detach()
        loss = -(torch.stack(roll.log_probs) * adv).mean() + 0.5 * (returns - values).pow(2).mean()
        loss = loss - self.cfg.ent_coef * torch.stack(roll.entropies).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 0.5)
        self.optimizer.step()
        return loss.item()

    def decay_exploration(self):
        """less noise as time goes by, but never less than the floor"""
        log_std = self.policy.log_std - self.cfg.std_decay
        log_std = log_std.clamp(min=self.cfg.min_log_std)

    def learn(self):
        for i in range(1, self.cfg.updates + 1):
            roll = self.collect()
            loss = self.update(roll)
            if i % self.cfg.std_decay_every == 0:
                self.decay_exploration()
            print(f"{i:2d} loss {loss:.5f} reward {torch.stack(roll.rewards).mean().item():.5f} "
                  f"std {self.policy.log_std.exp().mean().item():.5f}")


if __name__ == "__main__":
    A2C(Config()).learn()
