# A2C on a tiny vectorised corridor.  Rewards are scaled so that every return lies in [0, 1],
# therefore the critic ends in a sigmoid.
import argparse, random
import numpy as np
import torch, torch.nn as nn, torch.nn.functional as F
from torch.distributions import Categorical


class Corridor:
    """n walkers on a line of `length` cells, start in the middle; right end pays 1, left end 0.1"""
    def __init__(self, n, length=9, seed=0):
        self.n, self.length, self.rng = n, length, np.random.RandomState(seed)
        self.pos = self.rng.randint(2, length - 2, size=n)

    def obs(self):
        o = np.zeros((self.n, self.length), dtype=np.float32)
        o[np.arange(self.n), self.pos] = 1
        return torch.from_numpy(o)

    def step(self, a):
        slip = self.rng.rand(self.n) < 0.1
        move = np.where(slip, -1, 1) * (2 * a - 1)
        self.pos = self.pos + move
        win, lose = self.pos >= self.length - 1, self.pos <= 0
        done = win | lose
        rew = win * 1.0 + lose * 0.1
        self.pos[done] = self.rng.randint(2, self.length - 2, size=int(done.sum()))
        return self.obs(), rew.astype(np.float32), done


class ActorCritic(nn.Module):
    def __init__(self, n_obs, hid=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, hid), nn.Tanh())
        self.pi = nn.Linear(hid, 2)
        self.v = nn.Sequential(nn.Linear(hid, hid), nn.ReLU(), nn.Linear(hid, 1), nn.Sigmoid())

    def forward(self, o):
        h = self.body(o)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


class A2C:
    def __init__(self, args):
        self.a = args
        self.env = Corridor(args.envs, seed=args.seed)
        self.net = ActorCritic(self.env.length)
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=args.lr)
        self.cur = self.env.obs()

    @torch.no_grad()
    def collect(self):
        obs, act, rew, done = [self.cur], [], [], []
        for _ in range(self.a.steps):
            dist, _ = self.net(obs[-1])
            a = dist.sample()
            o, r, d = self.env.step(a.numpy())
            obs.append(o); act.append(a); rew.append(torch.from_numpy(r)); done.append(torch.from_numpy(d))
        self.cur = obs[-1]
        return torch.stack(obs), torch.stack(act), torch.stack(rew), torch.stack(done)

    def update(self):
        obs, act, rew, done = self.collect()
        T = self.a.steps
        dist, values = self.net(obs)                  # one pass over all T+1 observations
        v, next_v = values[:T], values[1:].detach().clone()
        next_v[done] = 0.                             # nothing comes after a terminal state
        target = (rew + self.a.gamma * next_v).detach()
        adv = target - v

        logp = Categorical(logits=dist.logits[:T]).log_prob(act)
        pi_loss = -(adv.detach() * logp).mean()
        v_loss = adv.pow(2).mean()
        ent = dist.entropy()[:T].mean()
        loss = pi_loss + self.a.vf * v_loss - self.a.ent * ent

        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.opt.step()
        return pi_loss.item(), v_loss.item(), rew.mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--envs", type=int, default=6); p.add_argument("--steps", type=int, default=8)
    p.add_argument("--updates", type=int, default=12); p.add_argument("--gamma", type=float, default=.95)
    p.add_argument("--lr", type=float, default=3e-3); p.add_argument("--vf", type=float, default=.5)
    p.add_argument("--ent", type=float, default=.01); p.add_argument("--seed", type=int, default=3)
    args = p.parse_args()
    random.seed(args.seed); np.random.seed(args.seed); torch.manual_seed(args.seed)
    algo = A2C(args)
    for u in range(args.updates):
        pi, vl, r = algo.update()
        if u % 3 == 2:
            print(f"update {u}: pi {pi:.6f} v {vl:.6f} reward {r:.4f}")
    with torch.no_grad():
        dist, val = algo.net(torch.eye(algo.env.length))
    print("value of the middle", round(val[4].item(), 6), "p(right)", round(dist.probs[4, 1].item(), 6))


if __name__ == "__main__":
    main()
