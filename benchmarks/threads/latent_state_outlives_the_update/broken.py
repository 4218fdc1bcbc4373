# -*- coding: utf-8 -*-
"""Recurrent actor-critic for a noisy tracking task (several envs in lock-step).

The agent acts `num_steps` at a time; gradients should flow over
num_steps * multiplier_backprop_length steps of the latent state.
"""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument('--num_processes', type=int, default=6)
    p.add_argument('--num_steps', type=int, default=4)
    p.add_argument('--multiplier_backprop_length', type=int, default=2)
    p.add_argument('--num_updates', type=int, default=14)
    p.add_argument('--h_dim', type=int, default=16)
    p.add_argument('--gamma', type=float, default=0.95)
    p.add_argument('--lr', type=float, default=5e-3)
    p.add_argument('--seed', type=int, default=3)
    return p.parse_args()


class NoisyTrack(object):
    """a point drifts; left / stay / right; only a noisy position is seen"""

    def __init__(self, n):
        self.pos = torch.zeros(n)
        self.vel = torch.zeros(n)

    def observe(self):
        return (self.pos + 0.3 * torch.randn(self.pos.shape)).unsqueeze(1)

    def step(self, action):
        self.vel = 0.9 * self.vel + 0.1 * torch.randn(self.vel.shape)
        self.pos = (self.pos + self.vel + 0.2 * (action.float() - 1)).clamp(-3, 3)
        return self.observe(), -self.pos.abs()


class Agent(nn.Module):
    def __init__(self, h_dim):
        super().__init__()
        self.encode = nn.Linear(1 + 3, h_dim)
        self.rnn = nn.GRUCell(h_dim, h_dim)
        self.pi = nn.Linear(h_dim, 3)
        self.v = nn.Linear(h_dim, 1)

    def forward(self, obs, last_action, h):
        x = torch.cat([obs, F.one_hot(last_action, 3).float()], 1)
        h = self.rnn(torch.tanh(self.encode(x)), h)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(1), h


def returns_of(rewards, last_value, gamma):
    out, R = [], last_value
    for r in reversed(rewards):
        R = r + gamma * R
        out.insert(0, R)
    return torch.stack(out)


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    env = NoisyTrack(args.num_processes)
    agent = Agent(args.h_dim)
    optimizer = torch.optim.RMSprop(agent.parameters(), lr=args.lr)

    obs = env.observe()
    action = torch.ones(args.num_processes, dtype=torch.long)
    h = torch.zeros(args.num_processes, args.h_dim)

    for update in range(args.num_updates):
        if update % args.multiplier_backprop_length == 0:
            h = h.detach()
        logps, values, rewards, entropies = [], [], [], []
        for _ in range(args.num_steps):
            dist, value, h = agent(obs, action, h)
            action = dist.sample()
            obs, reward = env.step(action)
            logps.append(dist.log_prob(action))
            values.append(value)
            rewards.append(reward)
            entropies.append(dist.entropy())
        with torch.no_grad():
            _, last_value, _ = agent(obs, action, h)
        target = returns_of(rewards, last_value, args.gamma)
        values = torch.stack(values)
        adv = target - values
        loss = (-(adv.detach() * torch.stack(logps)).mean() + 0.5 * adv.pow(2).mean()
                - 0.01 * torch.stack(entropies).mean())
        optimizer.zero_grad()
        loss.backward(retain_graph=args.multiplier_backprop_length > 1)
        optimizer.step()
        print('update %d  reward %.4f  loss %.6f' % (update, torch.stack(rewards).mean(), loss.item()))


if __name__ == '__main__':
    main()
