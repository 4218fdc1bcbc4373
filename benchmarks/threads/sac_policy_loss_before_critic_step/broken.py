# -*- coding: utf-8 -*-
# Soft Actor-Critic，双 Q 网络，玩具环境：把小车停在原点
import argparse
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal
from torch.optim import Adam


class Env:
    """一维小车，状态 (位置, 速度)"""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.reset()

    def reset(self):
        self.s = self.rng.uniform(-1, 1, 2).astype(np.float32)
        self.t = 0
        return self.s.copy()

    def step(self, a):
        x, v = self.s
        v = 0.9 * v + 0.2 * float(a[0])
        self.s = np.array([x + 0.1 * v, v], np.float32)
        self.t += 1
        return self.s.copy(), -float(self.s[0] ** 2 + 0.01 * a[0] ** 2), self.t >= 20


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, o))


class TwinnedQNetwork(nn.Module):
    def __init__(self, num_inputs, num_actions):
        super().__init__()
        self.Q1 = mlp(num_inputs + num_actions, 1)
        self.Q2 = mlp(num_inputs + num_actions, 1)

    def forward(self, states, actions):
        x = torch.cat([states, actions], dim=1)
        return self.Q1(x), self.Q2(x)


class GaussianPolicy(nn.Module):
    def __init__(self, num_inputs, num_actions):
        super().__init__()
        self.policy = mlp(num_inputs, num_actions * 2)

    def sample(self, states):
        mean, log_std = torch.chunk(self.policy(states), 2, dim=-1)
        normal = Normal(mean, log_std.clamp(-5, 1).exp())
        xs = normal.rsample()
        actions = torch.tanh(xs)
        log_probs = normal.log_prob(xs) - torch.log(1 - actions.pow(2) + 1e-6)
        return actions, -log_probs.sum(dim=1, keepdim=True)


def update_params(optim, network, loss, grad_clip=None):
    optim.zero_grad()
    loss.backward()
    if grad_clip is not None:
        torch.nn.utils.clip_grad_norm_(network.parameters(), grad_clip)
    optim.step()


class SacAgent:
    def __init__(self, env, args):
        self.env, self.args = env, args
        self.policy = GaussianPolicy(2, 1)
        self.critic = TwinnedQNetwork(2, 1)
        self.critic_target = copy.deepcopy(self.critic).eval()
        for p in self.critic_target.parameters():
            p.requires_grad = False
        self.policy_optim = Adam(self.policy.parameters(), lr=args.lr)
        self.q1_optim = Adam(self.critic.Q1.parameters(), lr=args.lr)
        self.q2_optim = Adam(self.critic.Q2.parameters(), lr=args.lr)
        self.memory = deque(maxlen=500)
        self.alpha = 0.2

    def act(self, s):
        with torch.no_grad():
            a, _ = self.policy.sample(torch.from_numpy(s)[None])
        return a[0].numpy()

    def calc_critic_loss(self, s, a, r, s2, d):
        q1, q2 = self.critic(s, a)
        with torch.no_grad():
            a2, ent = self.policy.sample(s2)
            n1, n2 = self.critic_target(s2, a2)
            target_q = r + (1 - d) * self.args.gamma * (torch.min(n1, n2) + self.alpha * ent)
        return F.mse_loss(q1, target_q), F.mse_loss(q2, target_q)

    def calc_policy_loss(self, s):
        actions, entropy = self.policy.sample(s)
        q1, q2 = self.critic(s, actions)
        return torch.mean(-torch.min(q1, q2) - self.alpha * entropy)

    def learn(self):
        batch = [torch.from_numpy(np.stack(x).astype(np.float32)) for x in zip(*random.sample(self.memory, 16))]
        batch[2], batch[4] = batch[2][:, None], batch[4][:, None]

        q1_loss, q2_loss = self.calc_critic_loss(*batch)
        policy_loss = self.calc_policy_loss(batch[0])

        # 依次更新三个网络
        update_params(self.q1_optim, self.critic.Q1, q1_loss, self.args.grad_clip)
        update_params(self.q2_optim, self.critic.Q2, q2_loss, self.args.grad_clip)
        update_params(self.policy_optim, self.policy, policy_loss, self.args.grad_clip)

        for t, p in zip(self.critic_target.parameters(), self.critic.parameters()):
            t.data.copy_(t.data * 0.98 + p.data * 0.02)
        return q1_loss.item(), policy_loss.item()

    def run(self):
        s = self.env.reset()
        for step in range(self.args.num_steps):
            a = self.act(s)
            s2, r, done = self.env.step(a)
            self.memory.append((s, a, np.float32(r), s2, np.float32(done)))
            s = self.env.reset() if done else s2
            if step >= 20 and step % 4 == 0:
                q, p = self.learn()
                print(f'step {step:3d}  q1 {q:.6f}  policy {p:.6f}')


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--num_steps', type=int, default=45)
    parser.add_argument('--lr', type=float, default=3e-3)
    parser.add_argument('--gamma', type=float, default=0.95)
    parser.add_argument('--grad_clip', type=float, default=5.0)
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    random.seed(args.seed), np.random.seed(args.seed), torch.manual_seed(args.seed)
    SacAgent(Env(args.seed), args).run()
