"""PPO with a spiking actor and an ordinary critic, on a toy point-mass. python main.py --iters 3"""
import argparse

import torch
import torch.nn as nn
from torch.distributions import Normal

from snn import SpikingMLP
from storage import Rollout

N_ENVS = 16


class PointMass:
    def __init__(self, n):
        self.n = n

    def reset(self):
        self.pos = torch.rand(self.n, 2) * 2 - 1
        self.vel = torch.zeros(self.n, 2)
        return self.obs()

    def obs(self):
        return torch.cat([self.pos, self.vel], 1)

    def step(self, a):
        self.vel = 0.8 * self.vel + 0.2 * a.clamp(-1, 1)
        self.pos = self.pos + self.vel
        return self.obs(), -self.pos.pow(2).sum(1)


class Agent(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.actor = SpikingMLP(4, hidden, 2)
        self.log_std = nn.Parameter(torch.full((2,), -0.5))
        self.critic = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def dist(self, obs):
        return Normal(self.actor(obs), self.log_std.exp())

    def value(self, obs):
        return self.critic(obs).squeeze(-1)


def collect(agent, env, horizon):
    roll = Rollout()
    obs = env.reset()
    with torch.no_grad():
        for _ in range(horizon):
            d = agent.dist(obs)
            a = d.sample()
            nobs, r = env.step(a)
            roll.add(obs, a, d.log_prob(a).sum(-1), r, agent.value(obs))
            obs = nobs
        roll.finish(agent.value(obs))
    return roll


def update(agent, opt, roll, args):
    stats = []
    for _ in range(args.epochs):
        for obs, act, old_logp, adv, ret in roll.minibatches(N_ENVS):
            d = agent.dist(obs)
            logp = d.log_prob(act).sum(-1)
            ratio = (logp - old_logp).exp()
            pg = -torch.min(ratio * adv, ratio.clamp(1 - args.clip, 1 + args.clip) * adv).mean()
            vf = (agent.value(obs) - ret).pow(2).mean()
            loss = pg + 0.5 * vf - args.ent * d.entropy().sum(-1).mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            opt.step()
            stats.append(loss.item())
    return sum(stats) / len(stats)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=2)
    ap.add_argument("--horizon", type=int, default=6)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--clip", type=float, default=0.2)
    ap.add_argument("--ent", type=float, default=0.003)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()
    torch.manual_seed(3)
    agent = Agent()
    opt = torch.optim.Adam(agent.parameters(), lr=args.lr)
    env = PointMass(N_ENVS)
    for it in range(args.iters):
        roll = collect(agent, env, args.horizon)
        loss = update(agent, opt, roll, args)
        print(f"iter {it} reward {torch.cat(roll.rew).mean().item():.5f} loss {loss:.5f}")


if __name__ == "__main__":
    main()
