# -*- coding: utf-8 -*-
# DDPG: 倒立摆的简化版, 目标网络用软更新
import argparse
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim):
        super(Actor, self).__init__()
        self.l1 = nn.Linear(state_dim, 12)
        self.l2 = nn.Linear(12, action_dim)

    def forward(self, s):
        return torch.tanh(self.l2(F.relu(self.l1(s))))


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super(Critic, self).__init__()
        self.l1 = nn.Linear(state_dim + action_dim, 12)
        self.l2 = nn.Linear(12, 1)

    def forward(self, s, a):
        return self.l2(F.relu(self.l1(torch.cat([s, a], 1))))


class DDPG(object):
    def __init__(self, state_dim, action_dim, args):
        self.actor = Actor(state_dim, action_dim)
        self.actor_target = copy.deepcopy(self.actor)
        self.critic = Critic(state_dim, action_dim)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=args.lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=args.lr * 3)
        self.gamma, self.tau = args.gamma, args.tau

    def soft_update(self, net, target_net):
        # target = (1 - tau) * target + tau * net
        for param, target_param in zip(net.parameters(), target_net.parameters()):
            target_param = (1 - self.tau) * target_param + self.tau * param

    def update(self, batch):
        s, a, r, s2 = batch
        with torch.no_grad():
            q_target = r + self.gamma * self.critic_target(s2, self.actor_target(s2))
        critic_loss = F.mse_loss(self.critic(s, a), q_target)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actor_loss = -self.critic(s, self.actor(s)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        self.soft_update(self.actor, self.actor_target)
        self.soft_update(self.critic, self.critic_target)
        return critic_loss.item(), actor_loss.item()


def env_step(state, action):
    theta, omega = state
    omega = omega + 0.1 * (np.sin(theta) + action)
    theta = theta + 0.1 * omega
    return np.array([theta, omega], dtype=np.float32), -float(theta**2 + 0.1 * omega**2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gamma", default=0.9, type=float)
    parser.add_argument("--tau", default=0.1, type=float)
    parser.add_argument("--lr", default=5e-3, type=float)
    parser.add_argument("--steps", default=24, type=int)
    args = parser.parse_args()
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)

    agent = DDPG(2, 1, args)
    memory = deque(maxlen=200)
    state = np.array([0.3, 0.0], dtype=np.float32)
    for step in range(args.steps):
        with torch.no_grad():
            action = agent.actor(torch.from_numpy(state).unsqueeze(0)).item()
        action = float(np.clip(action + 0.2 * np.random.randn(), -1, 1))
        next_state, reward = env_step(state, action)
        memory.append((state, [action], [reward], next_state))
        state = next_state
        if len(memory) >= 12:
            rows = zip(*random.sample(list(memory), 8))
            losses = agent.update([torch.tensor(np.array(x), dtype=torch.float32) for x in rows])
            if step % 4 == 3:
                print("step %d critic %.5f actor %.5f" % (step, *losses))
    drift = sum((p - q).abs().sum().item() for p, q in zip(agent.critic.parameters(), agent.critic_target.parameters()))
    print("distance to target %.5f" % drift)


if __name__ == "__main__":
    main()
