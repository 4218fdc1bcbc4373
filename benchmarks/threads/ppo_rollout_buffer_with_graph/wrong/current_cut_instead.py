import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions.categorical import Categorical


class PointEnv:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.pos, self.t = self.rng.uniform(-1, 1, size=2), 0
        return self.pos.astype(np.float32)

    def step(self, action):
        self.pos[action // 2] += 0.25 if action % 2 else -0.25
        self.t += 1
        return self.pos.astype(np.float32), float(-np.abs(self.pos).sum()), self.t >= 8


class ActorCritic(nn.Module):
    def __init__(self, obs_dim=2, n_act=4, hid=16):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(obs_dim, hid), nn.Tanh(), nn.Linear(hid, n_act))
        self.v = nn.Sequential(nn.Linear(obs_dim, hid), nn.Tanh(), nn.Linear(hid, 1))

    def step(self, obs):
        dist = Categorical(logits=self.pi(obs))
        a = dist.sample()
        return a, dist.log_prob(a), self.v(obs).squeeze(-1)


class RolloutBuffer:
    def __init__(self, gamma=0.97, lam=0.9):
        self.gamma, self.lam = gamma, lam
        self.obs, self.act, self.logp, self.val, self.rew, self.done = [], [], [], [], [], []

    def add(self, **kw):
        for k, v in kw.items():
            getattr(self, k).append(v)

    def get(self, last_val):
        val = torch.stack(self.val + [last_val])
        adv, run = [], 0
        for t in reversed(range(len(self.rew))):
            nonterminal = 1.0 - self.done[t]
            delta = self.rew[t] + self.gamma * val[t + 1] * nonterminal - val[t]
            run = delta + self.gamma * self.lam * nonterminal * run
            adv.insert(0, run)
        adv = torch.stack(adv)
        ret = adv + val[:-1]
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        return torch.stack(self.obs), torch.stack(self.act), torch.stack(self.logp), adv, ret


def collect(env, ac, steps):
    buf = RolloutBuffer()
    o = torch.as_tensor(env.reset())
    for t in range(steps):
        a, logp, v = ac.step(o)
        o2, r, d = env.step(a.item())
        buf.add(obs=o, act=a, logp=logp, val=v, rew=r, done=float(d))
        o = torch.as_tensor(env.reset() if d else o2)
    _, _, last = ac.step(o)
    return buf.get(last)


def main(seed=5, iterations=3, epochs=3, clip=0.2):
    torch.manual_seed(seed)
    env, ac = PointEnv(seed), ActorCritic()
    opt = torch.optim.Adam(ac.parameters(), lr=1e-2)
    for it in range(iterations):
        obs, act, logp_old, adv, ret = collect(env, ac, 24)
        for _ in range(epochs):
            dist = Categorical(logits=ac.pi(obs))
            ratio = torch.exp(dist.log_prob(act).detach() - logp_old.detach())
            adv = adv.detach()
            pi_loss = -torch.min(ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv).mean()
            v_loss = F.mse_loss(ac.v(obs).squeeze(-1), ret.detach())
            opt.zero_grad()
            (pi_loss + 0.5 * v_loss).backward()
            opt.step()
        print(f"it {it} pi {pi_loss.item():.6f} v {v_loss.item():.6f}")


if __name__ == "__main__":
    main()
