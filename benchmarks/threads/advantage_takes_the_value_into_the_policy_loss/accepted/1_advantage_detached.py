import random
from collections import namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

SEED = 543
GAMMA = 0.99
HIDDEN = 32

random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

Step = namedtuple("Step", ["state", "log_prob", "value", "reward", "done"])


class GridRoom:
    """5x5 room, start in a corner, goal in the opposite one."""

    ACTIONS = [(0, 1), (0, -1), (1, 0), (-1, 0)]

    def __init__(self, n=5, max_steps=25):
        self.n = n
        self.max_steps = max_steps

    def reset(self):
        self.pos = (0, 0)
        self.t = 0
        return self._obs()

    def _obs(self):
        x, y = self.pos
        return np.array([x / self.n, y / self.n, (self.n - 1 - x) / self.n, (self.n - 1 - y) / self.n], dtype=np.float32)

    def step(self, action):
        dx, dy = self.ACTIONS[action]
        x = min(max(self.pos[0] + dx, 0), self.n - 1)
        y = min(max(self.pos[1] + dy, 0), self.n - 1)
        self.pos = (x, y)
        self.t += 1
        goal = self.pos == (self.n - 1, self.n - 1)
        reward = 1.0 if goal else -0.04
        return self._obs(), reward, goal or self.t >= self.max_steps


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.linear1 = nn.Linear(state_dim, HIDDEN)
        self.linear2 = nn.Linear(HIDDEN, HIDDEN)
        self.linear3 = nn.Linear(HIDDEN, action_dim)

    def forward(self, state):
        output = F.relu(self.linear1(state))
        output = F.relu(self.linear2(output))
        return Categorical(F.softmax(self.linear3(output), dim=-1))


class Critic(nn.Module):
    def __init__(self, state_dim):
        super().__init__()
        self.linear1 = nn.Linear(state_dim, HIDDEN)
        self.linear2 = nn.Linear(HIDDEN, 1)

    def forward(self, state):
        return self.linear2(F.relu(self.linear1(state)))


class A2CAgent:
    def __init__(self, env, state_dim=4, action_dim=4, lr_actor=3e-3, lr_critic=5e-3):
        self.env = env
        self.actor = Actor(state_dim, action_dim)
        self.critic = Critic(state_dim)
        self.optimizerA = optim.Adam(self.actor.parameters(), lr=lr_actor)
        self.optimizerC = optim.Adam(self.critic.parameters(), lr=lr_critic)

    def play_episode(self):
        steps = []
        state = torch.from_numpy(self.env.reset())
        done = False
        entropy = 0
        while not done:
            dist, value = self.actor(state), self.critic(state)
            action = dist.sample()
            next_state, reward, done = self.env.step(action.item())
            entropy += dist.entropy().mean()
            steps.append(Step(state, dist.log_prob(action).unsqueeze(0), value, reward, done))
            state = torch.from_numpy(next_state)
        return steps, entropy

    def compute_returns(self, steps):
        R = 0
        returns = []
        for step in reversed(steps):
            R = step.reward + GAMMA * R
            returns.insert(0, torch.tensor([R], dtype=torch.float32))
        return torch.cat(returns)

    def update(self, steps, entropy):
        returns = self.compute_returns(steps)
        log_probs = torch.cat([s.log_prob for s in steps])
        values = torch.cat([s.value for s in steps])

        advantage = returns - values

        actor_loss = -(log_probs * advantage.detach()).mean() - 0.001 * entropy / len(steps)
        critic_loss = advantage.pow(2).mean()

        self.optimizerA.zero_grad()
        self.optimizerC.zero_grad()
        actor_loss.backward()
        critic_loss.backward()
        self.optimizerA.step()
        self.optimizerC.step()
        return actor_loss.item(), critic_loss.item()

    def train(self, n_episodes=12):
        for i in range(n_episodes):
            steps, entropy = self.play_episode()
            a_loss, c_loss = self.update(steps, entropy)
            if (i + 1) % 3 == 0:
                score = sum(s.reward for s in steps)
                print("Episode %d  score %.2f  length %d  actor loss %.4f  critic loss %.4f"
                      % (i + 1, score, len(steps), a_loss, c_loss))


if __name__ == "__main__":
    agent = A2CAgent(GridRoom())
    agent.train()
