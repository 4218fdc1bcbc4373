import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

from pendulum import Pendulum


class OUNoise:
    def __init__(self, size, theta=0.15, sigma=0.2):
        self.size, self.theta, self.sigma = size, theta, sigma
        self.reset()

    def reset(self):
        self.state = np.zeros(self.size)

    def __call__(self):
        self.state += -self.theta * self.state + self.sigma * np.random.randn(self.size)
        return self.state


def mlp(sizes, last=None):
    layers = []
    for i in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[i], sizes[i + 1]), nn.ReLU() if i < len(sizes) - 2 else (last or nn.Identity())]
    return nn.Sequential(*layers)


class Agent:
    def __init__(self, state_size, action_size):
        self.actor_local = mlp([state_size, 128, 64, action_size], nn.Tanh())
        self.actor_target = mlp([state_size, 128, 64, action_size], nn.Tanh())
        self.actor_optimizer = optim.Adam(self.actor_local.parameters(), lr=1e-4)
        self.critic_local = mlp([state_size + action_size, 128, 64, 1])
        self.critic_target = mlp([state_size + action_size, 128, 64, 1])
        self.critic_optimizer = optim.Adam(self.critic_local.parameters(), lr=1e-3)
        self.memory = deque(maxlen=50000)
        self.noise = OUNoise(action_size)

    def act(self, state):
        self.actor_local.eval()
        with torch.no_grad():
            action = self.actor_local(torch.from_numpy(state)).numpy()
        self.actor_local.train()
        return np.clip(action + self.noise(), -1, 1)

    def learn(self, batch_size=64, gamma=0.99):
        rows = random.sample(self.memory, k=batch_size)
        states, actions, rewards, next_states, dones = [
            torch.from_numpy(np.array(c, dtype=np.float32).reshape(batch_size, -1)) for c in zip(*rows)
        ]
        with torch.no_grad():
            next_q = self.critic_target(torch.cat((next_states, self.actor_target(next_states)), dim=1))
        q_targets = rewards + gamma * next_q * (1 - dones)
        q_expected = self.critic_local(torch.cat((states, actions), dim=1))
        critic_loss = nn.functional.mse_loss(q_expected, q_targets)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        actor_loss = -self.critic_local(torch.cat((states, self.actor_local(states)), dim=1)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        self.soft_update(self.critic_local, self.critic_target, 1e-3)
        self.soft_update(self.actor_local, self.actor_target, 1e-3)

    def soft_update(self, local_model, target_model, tau):
        for target_param, local_param in zip(target_model.parameters(), local_model.parameters()):
            target_param.mul_(1.0 - tau)
            target_param.add_(tau * local_param.data)


def ddpg(n_episodes=300):
    env = Pendulum(horizon=1000)
    agent = Agent(env.state_dim, env.action_dim)
    scores_window = deque(maxlen=100)
    for episode in range(1, n_episodes + 1):
        state, score = env.reset(), 0
        agent.noise.reset()
        while True:
            action = agent.act(state)
            next_state, reward, done, _ = env.step(2 * action)
            agent.memory.append((state, action, reward, next_state, done))
            state, score = next_state, score + reward
            if done:
                break
        for _ in range(20):
            agent.learn()
        scores_window.append(score)
        print("\rEpisode {}\tAverage Score: {:.2f}".format(episode, np.mean(scores_window)))


if __name__ == "__main__":
    random.seed(2)
    np.random.seed(2)
    torch.manual_seed(2)
    ddpg()
