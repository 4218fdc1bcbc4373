import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from pendulum import Pendulum


def dataset(n=12000, seed=9):
    """What a noisy controller once recorded."""
    env = Pendulum(seed=seed)
    state, rows = env.reset(), []
    for _ in range(n):
        action = np.clip(-3.0 * state[1:2] - state[2:3] + 0.7 * env.random.randn(1), -2, 2).astype(np.float32)
        nxt, reward, done, _ = env.step(action)
        rows.append((state, action, [reward], nxt, [float(done)]))
        state = env.reset() if done else nxt
    return [torch.as_tensor(np.array(c), dtype=torch.float32) for c in zip(*rows)]


class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], -1))


class CQL:
    def __init__(self, alpha=1.0, gamma=0.99):
        self.actor = nn.Sequential(nn.Linear(3, 256), nn.ReLU(), nn.Linear(256, 1), nn.Tanh())
        self.critic = Q()
        self.target = copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-4)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.alpha, self.gamma = alpha, gamma

    def update(self, batch):
        s, a, r, s2, d = batch
        with torch.no_grad():
            y = r + self.gamma * (1 - d) * self.target(s2, 2 * self.actor(s2))
        q_data = self.critic(s, a)
        q_pi = self.critic(s, 2 * self.actor(s))
        q_rand = self.critic(s, torch.empty_like(a).uniform_(-2, 2))
        penalty = torch.logsumexp(torch.cat([q_rand, q_pi.detach()], -1), -1).mean() - q_data.mean()
        critic_loss = F.mse_loss(q_data, y) + self.alpha * penalty
        actor_loss = -q_pi.mean()

        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        with torch.no_grad():
            for p, t in zip(self.critic.parameters(), self.target.parameters()):
                t.lerp_(p, 0.005)
        return critic_loss.item(), actor_loss.item()


def evaluate(agent, episodes=5):
    env, total = Pendulum(seed=1234, substeps=120), 0.0
    for _ in range(episodes):
        state, done = env.reset(), False
        while not done:
            with torch.no_grad():
                action = 2 * agent.actor(torch.as_tensor(state)).numpy()
            state, reward, done, _ = env.step(action)
            total += reward
    return total / episodes


if __name__ == "__main__":
    torch.manual_seed(9)
    data, agent = dataset(), CQL()
    for iteration in range(1000):
        index = torch.randint(len(data[0]), (256,))
        losses = agent.update([column[index] for column in data])
        print(f"iteration {iteration} critic {losses[0]:.3f} actor {losses[1]:.3f} return {evaluate(agent):.1f}")
