# -*- coding: utf-8 -*-
# MPO の最小実装(オフラインのデータ、離散サンプル)
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, Independent


class Policy(nn.Module):
    def __init__(self, s_dim, a_dim):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(s_dim, 32), nn.Tanh(), nn.Linear(32, a_dim))
        self.log_std = nn.Parameter(torch.full((a_dim,), -0.5))

    def dist(self, s):
        return Independent(Normal(self.body(s), self.log_std.exp()), 1)


class MPO:
    def __init__(self, s_dim=4, a_dim=2, samples=16, epsilon=0.1):
        self.actor = Policy(s_dim, a_dim)
        self.critic = nn.Sequential(nn.Linear(s_dim + a_dim, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_eta = nn.Parameter(torch.tensor(-1.0))
        self.samples, self.epsilon = samples, epsilon
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-2)
        self.dual_opt = torch.optim.Adam([self.log_eta], lr=5e-2)

    def update_critic(self, s, a, r):
        q = self.critic(torch.cat([s, a], -1)).squeeze(-1)
        loss = F.mse_loss(q, r)
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
        return loss.item()

    def e_step(self, s):
        """サンプルした行動の重みと温度の双対損失。重みは更新前の温度で計算する"""
        with torch.no_grad():
            actions = self.actor.dist(s).sample((self.samples,))                      # K,B,A
            q = self.critic(torch.cat([s.expand(self.samples, -1, -1), actions], -1)).squeeze(-1)
        eta = F.softplus(self.log_eta) + 1e-6
        scaled = q / eta
        log_mean = torch.logsumexp(scaled, 0) - torch.log(torch.tensor(float(self.samples)))
        dual = eta * self.epsilon + eta * log_mean.mean()
        weights = torch.softmax(q, 0)
        return actions, weights, dual

    def update(self, s, a, r):
        critic_loss = self.update_critic(s, a, r)
        self.dual_opt.zero_grad()
        self.actor_opt.zero_grad()

        actions, weights, dual = self.e_step(s)
        dual.backward()
        self.dual_opt.step()

        log_prob = self.actor.dist(s).log_prob(actions)                               # K,B
        actor_loss = -(weights * log_prob).sum(0).mean()
        actor_loss.backward()
        self.actor_opt.step()
        return critic_loss, dual.item(), actor_loss.item()


def main():
    torch.manual_seed(11)
    agent = MPO()
    goal = torch.randn(4, 2)
    for it in range(10):
        s = torch.randn(48, 4)
        a = torch.randn(48, 2)
        r = -((a - torch.tanh(s @ goal)) ** 2).sum(-1)
        log = agent.update(s, a, r)
        if it % 3 == 0:
            print(it, ' '.join('%.5f' % v for v in log))
    print('eta %.6f' % F.softplus(agent.log_eta).item(), 'std', [round(v, 6) for v in agent.actor.log_std.exp().tolist()])


if __name__ == '__main__':
    main()
