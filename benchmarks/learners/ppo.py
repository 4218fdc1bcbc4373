import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal

from pendulum import Pendulum


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(obs_dim, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, act_dim))
        self.v = nn.Sequential(nn.Linear(obs_dim, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
        self.log_std = nn.Parameter(-0.5 * torch.ones(act_dim))

    def dist(self, obs):
        return Normal(self.pi(obs), self.log_std.exp())


class PPO:
    def __init__(self, env, n_steps=1024, epochs=4, minibatch=256, clip=0.2, gamma=0.99, lam=0.95):
        self.env, self.n_steps, self.epochs, self.minibatch = env, n_steps, epochs, minibatch
        self.clip, self.gamma, self.lam = clip, gamma, lam
        self.net = ActorCritic(env.state_dim, env.action_dim)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=3e-4)
        self.obs = env.reset()

    def collect(self):
        obs_buf, act_buf, logp_buf, rew_buf, val_buf, done_buf = [], [], [], [], [], []
        for _ in range(self.n_steps):
            obs = torch.as_tensor(self.obs)
            dist = self.net.dist(obs)
            action = dist.sample()
            logp_buf.append(dist.log_prob(action).sum(-1))
            val_buf.append(self.net.v(obs).squeeze(-1).item())
            self.obs, reward, done, _ = self.env.step(action.numpy())
            obs_buf.append(obs)
            act_buf.append(action)
            rew_buf.append(reward)
            done_buf.append(done)
            if done:
                self.obs = self.env.reset()
        advantages, last = np.zeros(self.n_steps, dtype=np.float32), 0.0
        values = val_buf + [0.0]
        for t in reversed(range(self.n_steps)):
            mask = 1.0 - done_buf[t]
            delta = rew_buf[t] + self.gamma * values[t + 1] * mask - values[t]
            advantages[t] = last = delta + self.gamma * self.lam * mask * last
        advantages = torch.from_numpy(advantages)
        returns = advantages + torch.tensor(val_buf)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        return torch.stack(obs_buf), torch.stack(act_buf), torch.stack(logp_buf), returns, advantages, sum(rew_buf)

    def update(self, obs, actions, old_logp, returns, advantages):
        for _ in range(self.epochs):
            for idx in torch.randperm(self.n_steps).split(self.minibatch):
                dist = self.net.dist(obs[idx])
                logp = dist.log_prob(actions[idx]).sum(-1)
                ratio = torch.exp(logp - old_logp[idx])
                surr1 = ratio * advantages[idx]
                surr2 = torch.clamp(ratio, 1 - self.clip, 1 + self.clip) * advantages[idx]
                value_loss = (self.net.v(obs[idx]).squeeze(-1) - returns[idx]).pow(2).mean()
                loss = -torch.min(surr1, surr2).mean() + 0.5 * value_loss - 0.01 * dist.entropy().mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
                self.optimizer.step()


if __name__ == "__main__":
    torch.manual_seed(3)
    agent = PPO(Pendulum(substeps=150))
    for iteration in range(200):
        *batch, total = agent.collect()
        agent.update(*batch)
        print(f"iteration {iteration}: reward {total:.1f}")
