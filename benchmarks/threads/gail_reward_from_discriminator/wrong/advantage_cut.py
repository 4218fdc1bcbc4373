# 生成对抗模仿学习 (GAIL)
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


class Discriminator(nn.Module):
    def __init__(self, n_s, n_a):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_s + n_a, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], -1))


class Policy(nn.Module):
    def __init__(self, n_s, n_a):
        super().__init__()
        self.mu = nn.Sequential(nn.Linear(n_s, 24), nn.Tanh(), nn.Linear(24, n_a))
        self.log_std = nn.Parameter(torch.full((n_a,), -0.5))
        self.value = nn.Sequential(nn.Linear(n_s, 24), nn.Tanh(), nn.Linear(24, 1))

    def dist(self, s):
        return Normal(self.mu(s), self.log_std.exp())


class GAIL:
    def __init__(self, n_s=3, n_a=2):
        self.policy, self.disc = Policy(n_s, n_a), Discriminator(n_s, n_a)
        self.opt_pi = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.opt_d = torch.optim.Adam(self.disc.parameters(), lr=3e-3)

    def rollout(self, horizon=16):
        s, states, actions, logps = torch.zeros(4, 3), [], [], []
        with torch.no_grad():
            for _ in range(horizon):
                d = self.policy.dist(s)
                a = d.sample()
                states.append(s), actions.append(a), logps.append(d.log_prob(a).sum(-1))
                s = 0.8 * s + 0.2 * torch.cat([a, a.sum(-1, keepdim=True)], -1)
        return torch.stack(states), torch.stack(actions), torch.stack(logps)

    def returns(self, rewards, gamma=0.9):
        R, out = torch.zeros_like(rewards[0]), []
        for r in reversed(rewards):
            R = r + gamma * R
            out.insert(0, R)
        return torch.stack(out)

    def update(self, expert_s, expert_a, epochs=3):
        s, a, logp_old = self.rollout()
        # 判别器: 专家 -> 1, 策略 -> 0
        d_pi, d_exp = self.disc(s, a), self.disc(expert_s, expert_a)
        loss_d = F.binary_cross_entropy_with_logits(d_exp, torch.ones_like(d_exp)) \
            + F.binary_cross_entropy_with_logits(d_pi, torch.zeros_like(d_pi))
        # 奖励
        rewards = -F.logsigmoid(-d_pi).squeeze(-1)
        returns = self.returns(rewards)
        self.opt_d.zero_grad()
        loss_d.backward()
        self.opt_d.step()
        # PPO
        for _ in range(epochs):
            adv = (returns - self.policy.value(s).squeeze(-1)).detach()
            d = self.policy.dist(s)
            ratio = torch.exp(d.log_prob(a).sum(-1) - logp_old)
            A = adv.detach()
            loss_pi = -torch.min(ratio * A, ratio.clamp(0.8, 1.2) * A).mean()
            loss_v = 0.5 * adv.pow(2).mean()
            self.opt_pi.zero_grad()
            (loss_pi + loss_v - 1e-3 * d.entropy().mean()).backward()
            self.opt_pi.step()
        return loss_d.item(), loss_pi.item(), loss_v.item()


torch.manual_seed(16)
agent = GAIL()
for it in range(3):
    es = 0.3 * torch.randn(16, 4, 3)
    ea = torch.stack([es[..., 0] - es[..., 1], es[..., 2]], -1)
    print("第%d轮" % it, "D %.6f pi %.6f v %.6f" % agent.update(es, ea))
