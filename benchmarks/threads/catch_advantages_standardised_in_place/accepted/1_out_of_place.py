"""Vanilla policy gradient with a value baseline, advantages normalised per batch."""
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class CatchBall:
    """A ball falls in one of five columns; the paddle moves left, stays, or moves right."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.ball = self.rng.randint(5)
        self.paddle = 2
        self.height = 4
        return self.obs()

    def obs(self):
        return torch.tensor([self.ball / 4, self.paddle / 4, self.height / 4], dtype=torch.float32)

    def step(self, action):
        self.paddle = min(max(self.paddle + action - 1, 0), 4)
        self.height -= 1
        done = self.height == 0
        reward = 0.0 if not done else (1.0 if self.paddle == self.ball else -1.0)
        return self.obs(), reward, done


class A2C:
    def __init__(self, gamma=0.9, value_coef=0.5, entropy_coef=0.01):
        self.policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3))
        self.value = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
        params = list(self.policy.parameters()) + list(self.value.parameters())
        self.optimizer = torch.optim.Adam(params, lr=0.02)
        self.gamma = gamma
        self.value_coef = value_coef
        self.entropy_coef = entropy_coef

    def collect(self, env, episodes):
        obs, actions, returns = [], [], []
        for _ in range(episodes):
            o, done, rewards = env.reset(), False, []
            while not done:
                with torch.no_grad():
                    a = Categorical(logits=self.policy(o)).sample()
                obs.append(o)
                actions.append(a)
                o, r, done = env.step(a.item())
                rewards.append(r)
            g, episode_returns = 0.0, []
            for r in reversed(rewards):
                g = r + self.gamma * g
                episode_returns.insert(0, g)
            returns += episode_returns
        return torch.stack(obs), torch.stack(actions), torch.tensor(returns)

    def update(self, obs, actions, returns):
        dist = Categorical(logits=self.policy(obs))
        values = self.value(obs).squeeze(-1)

        advantages = returns - values
        value_loss = advantages.pow(2).mean()

        # zero mean, unit variance
        advantages = advantages - advantages.mean()
        advantages = advantages / (advantages.std() + 1e-8)
        policy_loss = -(dist.log_prob(actions) * advantages.detach()).mean()

        loss = policy_loss + self.value_coef * value_loss - self.entropy_coef * dist.entropy().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return policy_loss.item(), value_loss.item()


if __name__ == "__main__":
    torch.manual_seed(1)
    env, agent = CatchBall(seed=2), A2C()
    for i in range(8):
        batch = agent.collect(env, episodes=6)
        policy_loss, value_loss = agent.update(*batch)
        print(f"update {i}: policy {policy_loss:+.5f} value {value_loss:.5f}")
