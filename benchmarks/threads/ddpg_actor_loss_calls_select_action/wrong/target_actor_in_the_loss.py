import argparse
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--gamma", default=0.98, type=float)
parser.add_argument("--tau", default=0.05, type=float)
parser.add_argument("--batch_size", default=16, type=int)
parser.add_argument("--capacity", default=500, type=int)
parser.add_argument("--learning_rate", default=2e-3, type=float)
parser.add_argument("--exploration_noise", default=0.1, type=float)
parser.add_argument("--max_episode", default=3, type=int)
parser.add_argument("--max_length_of_trajectory", default=15, type=int)
parser.add_argument("--update_iteration", default=3, type=int)
args = parser.parse_args([])

state_dim, action_dim, max_action = 3, 1, 2.0
min_Val = torch.tensor(1e-7).float()


class Pendulum:
    """角度 -> (cos, sin, 角速度)"""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.th, self.w = self.rng.uniform(-np.pi, np.pi), 0.0
        return self._obs()

    def _obs(self):
        return np.array([np.cos(self.th), np.sin(self.th), self.w], dtype=np.float32)

    def step(self, u):
        u = float(np.clip(u, -max_action, max_action)[0])
        cost = ((self.th + np.pi) % (2 * np.pi) - np.pi) ** 2 + 0.1 * self.w ** 2 + 0.001 * u ** 2
        self.w = float(np.clip(self.w + 0.05 * (15 * np.sin(self.th) + 3 * u), -8, 8))
        self.th += 0.05 * self.w
        return self._obs(), -cost


class Replay_buffer:
    def __init__(self, max_size=args.capacity):
        self.storage = deque(maxlen=max_size)

    def push(self, data):
        self.storage.append(data)

    def sample(self, batch_size):
        batch = random.sample(list(self.storage), batch_size)
        return [torch.as_tensor(np.array(col), dtype=torch.float32) for col in zip(*batch)]


class Actor(nn.Module):
    def __init__(self):
        super(Actor, self).__init__()
        self.l1 = nn.Linear(state_dim, 24)
        self.l2 = nn.Linear(24, action_dim)

    def forward(self, x):
        return max_action * torch.tanh(self.l2(F.relu(self.l1(x))))


class Critic(nn.Module):
    def __init__(self):
        super(Critic, self).__init__()
        self.l1 = nn.Linear(state_dim + action_dim, 24)
        self.l2 = nn.Linear(24, 1)

    def forward(self, x, u):
        return self.l2(F.relu(self.l1(torch.cat([x, u], 1))))


class DDPG(object):
    def __init__(self, noise_rng):
        self.actor, self.critic = Actor(), Critic()
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=args.learning_rate)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=args.learning_rate)
        self.replay_buffer = Replay_buffer()
        self.noise_rng = noise_rng

    def select_action(self, state, noise=0.0):
        state = torch.as_tensor(np.asarray(state), dtype=torch.float32).reshape(-1, state_dim)
        action = self.actor(state).cpu().data.numpy()
        if noise > 0:
            action = action + self.noise_rng.normal(0, noise, size=action.shape)
        return action.clip(-max_action, max_action)

    def update(self):
        for it in range(args.update_iteration):
            state, next_state, action, reward = self.replay_buffer.sample(args.batch_size)
            # 目标 Q
            target_Q = self.critic_target(next_state, self.actor_target(next_state))
            target_Q = reward + (args.gamma * target_Q).detach()
            critic_loss = F.mse_loss(self.critic(state, action), target_Q)
            self.critic_optimizer.zero_grad()
            critic_loss.backward()
            self.critic_optimizer.step()

            # freeze the critic so that no effort is wasted on its gradients
            for p in self.critic.parameters():
                p.requires_grad = False
            policy_action = self.actor_target(state)
            actor_loss = -self.critic(state, policy_action).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            for p in self.critic.parameters():
                p.requires_grad = True

            for net, target in ((self.critic, self.critic_target), (self.actor, self.actor_target)):
                for param, target_param in zip(net.parameters(), target.parameters()):
                    target_param.data.copy_(args.tau * param.data + (1 - args.tau) * target_param.data)
        return critic_loss.item(), actor_loss.item()


def main():
    torch.manual_seed(17)
    random.seed(17)
    env, agent = Pendulum(17), DDPG(np.random.RandomState(18))
    for i in range(args.max_episode):
        total_reward, state = 0, env.reset()
        for t in range(args.max_length_of_trajectory):
            action = agent.select_action(state, noise=args.exploration_noise)[0]
            next_state, reward = env.step(action)
            agent.replay_buffer.push((state, next_state, action, [reward / 10]))
            state = next_state
            total_reward += reward
        if len(agent.replay_buffer.storage) >= args.batch_size:
            losses = agent.update()
            print("Episode: {} Total Reward: {:.4f} critic {:.6f} actor {:.6f}".format(i, total_reward, *losses))


if __name__ == '__main__':
    main()
