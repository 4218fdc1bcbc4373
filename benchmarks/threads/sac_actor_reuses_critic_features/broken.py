"""
SAC from "pixels" (here: a random projection of the true state), one encoder for actor and critics.
As in SAC+AE / DrQ the encoder learns from the critic, it belongs to the critic's optimizer.
"""
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

OBS, FEAT, ACT, HID = 20, 8, 2, 32


def mlp(i, o, h=HID):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, o))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(OBS, HID), nn.ReLU(), nn.Linear(HID, FEAT), nn.LayerNorm(FEAT), nn.Tanh())

    def forward(self, o):
        return self.net(o)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.q1, self.q2 = mlp(FEAT + ACT, 1), mlp(FEAT + ACT, 1)

    def forward(self, h, a):
        ha = torch.cat([h, a], -1)
        return self.q1(ha), self.q2(ha)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = mlp(FEAT, 2 * ACT)

    def forward(self, h):
        mu, log_std = self.trunk(h).chunk(2, -1)
        log_std = log_std.clamp(-5, 2)
        eps = torch.randn_like(mu)
        u = mu + log_std.exp() * eps
        a = torch.tanh(u)
        logp = (-0.5 * eps ** 2 - log_std - 0.5 * math.log(2 * math.pi)).sum(-1, keepdim=True)
        logp = logp - torch.log(1 - a ** 2 + 1e-6).sum(-1, keepdim=True)
        return a, logp


class SACAgent:
    def __init__(self, gamma=0.95, tau=0.05, alpha=0.1):
        self.gamma, self.tau, self.alpha = gamma, tau, alpha
        self.encoder, self.critic, self.actor = Encoder(), Critic(), Actor()
        self.encoder_t, self.critic_t = copy.deepcopy(self.encoder), copy.deepcopy(self.critic)
        # encoder is trained with the critic
        self.critic_opt = torch.optim.Adam(list(self.encoder.parameters()) + list(self.critic.parameters()), lr=1e-3)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)

    def target(self, rew, nobs):
        with torch.no_grad():
            na, nlogp = self.actor(self.encoder(nobs))
            q1, q2 = self.critic_t(self.encoder_t(nobs), na)
            return rew + self.gamma * (torch.min(q1, q2) - self.alpha * nlogp)

    def update(self, batch):
        obs, act, rew, nobs = batch
        h = self.encoder(obs)

        # ---- critic
        y = self.target(rew, nobs)
        q1, q2 = self.critic(h, act)
        critic_loss = F.mse_loss(q1, y) + F.mse_loss(q2, y)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        # ---- actor
        a, logp = self.actor(h)
        actor_loss = (self.alpha * logp - torch.min(*self.critic(h, a))).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        self.soft_update(self.encoder, self.encoder_t)
        self.soft_update(self.critic, self.critic_t)
        return critic_loss.item(), actor_loss.item()

    @torch.no_grad()
    def soft_update(self, net, net_t):
        for p, pt in zip(net.parameters(), net_t.parameters()):
            pt.lerp_(p, self.tau)


def fake_replay(n=64):
    """a linear system seen through a random camera"""
    cam = torch.randn(4, OBS) / 2
    s = torch.randn(n, 4)
    a = torch.rand(n, ACT) * 2 - 1
    ns = 0.9 * s + torch.cat([a, -a], 1) * 0.3
    r = -ns.pow(2).sum(1, keepdim=True) * 0.1
    return s @ cam, a, r, ns @ cam


def main():
    torch.manual_seed(21)
    agent = SACAgent()
    data = fake_replay()
    for it in range(8):
        idx = torch.randint(0, 64, (32,))
        lc, la = agent.update([d[idx] for d in data])
        if it % 2 == 1:
            print(it, "critic", round(lc, 6), "actor", round(la, 6))


if __name__ == "__main__":
    main()
