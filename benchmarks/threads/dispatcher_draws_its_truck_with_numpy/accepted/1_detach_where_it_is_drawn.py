"""REINFORCE for a toy dispatcher: K trucks, jobs arrive, send one. Reward: short queues.

Sampling keeps a little uniform exploration; the policy gradient is that of the policy itself.
"""
import numpy as np
import torch
import torch.nn as nn

K, JOBS, EPS, GAMMA = 4, 15, 0.1, 0.97


class Yard:
    def __init__(self, rng):
        self.rng = rng
        self.speed = np.array([1.0, 0.8, 1.3, 0.6])

    def reset(self):
        self.load = np.zeros(K)
        self.job = self.rng.exponential(1.0)
        return self.state()

    def state(self):
        return torch.tensor(np.append(self.load, self.job), dtype=torch.float32)

    def send(self, k):
        before = self.load[k]
        self.load[k] += self.job / self.speed[k]
        reward = -(before + self.job / self.speed[k])
        self.load = np.maximum(self.load - 0.4, 0)
        self.job = self.rng.exponential(1.0)
        return self.state(), reward


class Dispatcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(K + 1, 32), nn.Tanh(), nn.Linear(32, K))

    def forward(self, s):
        return torch.softmax(self.body(s), dim=-1)


class Agent:
    def __init__(self, rng, lr=0.01):
        self.rng = rng
        self.policy = Dispatcher()
        self.opt = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.chosen = []
        self.entropies = []

    def act(self, state):
        probs = self.policy(state)
        behaviour = (1 - EPS) * probs + EPS / K
        k = self.rng.choice(K, p=behaviour.detach().numpy())
        self.chosen.append(torch.log(probs[k] + 1e-8))
        self.entropies.append(-(probs * torch.log(probs + 1e-8)).sum())
        return int(k)

    def learn(self, rewards):
        G, returns = 0.0, []
        for r in reversed(rewards):
            G = r + GAMMA * G
            returns.insert(0, G)
        returns = torch.tensor(returns, dtype=torch.float32)
        adv = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = -(torch.stack(self.chosen) * adv).mean() - 0.02 * torch.stack(self.entropies).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.chosen, self.entropies = [], []
        return loss.item()


if __name__ == '__main__':
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    yard, agent = Yard(rng), Agent(rng)
    for episode in range(12):
        s, rewards = yard.reset(), []
        for _ in range(JOBS):
            s, r = yard.send(agent.act(s))
            rewards.append(r)
        loss = agent.learn(rewards)
        if episode % 3 == 2:
            print('episode %d  return %.4f  loss %.5f' % (episode, sum(rewards), loss))
