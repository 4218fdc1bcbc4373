"""PPO with random network distillation on a tiny maze.

    python rnd.py --updates 3
"""
import argparse
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


# ----------------------------------------------------------------- environment
class Maze:
    """A corridor of rooms; the reward is in the last one."""

    moves = ((0, 1), (0, -1), (1, 0), (-1, 0))

    def __init__(self, size, rng):
        self.size, self.rng = size, rng

    def reset(self):
        self.pos, self.t = [0, 0], 0
        return self.observe()

    def observe(self):
        x = torch.zeros(2 * self.size)
        x[self.pos[0]] = x[self.size + self.pos[1]] = 1.0
        return x

    def step(self, action):
        for axis in (0, 1):
            self.pos[axis] = min(self.size - 1, max(0, self.pos[axis] + self.moves[action][axis]))
        self.t += 1
        won = self.pos == [self.size - 1, self.size - 1]
        return self.observe(), float(won), won or self.t >= 20


# ----------------------------------------------------------------- networks
def mlp(*sizes):
    layers = []
    for i, o in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(i, o), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class ActorCritic(nn.Module):
    def __init__(self, n_obs, n_act, hidden=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh())
        self.pi = nn.Linear(hidden, n_act)
        self.v_ext, self.v_int = nn.Linear(hidden, 1), nn.Linear(hidden, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v_ext(h).squeeze(-1), self.v_int(h).squeeze(-1)


class RND(nn.Module):
    def __init__(self, n_obs, k=8):
        super().__init__()
        self.target, self.predictor = mlp(n_obs, 24, k), mlp(n_obs, 24, 24, k)
        for p in self.target.parameters():
            p.requires_grad_(False)

    def error(self, obs):
        """How badly the predictor knows an observation."""
        return (self.predictor(obs) - self.target(obs)).pow(2).mean(-1)


class RewardForwardFilter:
    def __init__(self, gamma):
        self.rewems, self.gamma = None, gamma

    def update(self, rews):
        self.rewems = rews if self.rewems is None else self.rewems * self.gamma + rews
        return self.rewems


# ----------------------------------------------------------------- agent
class Agent:
    def __init__(self, env, args):
        self.env, self.args = env, args
        n_obs = 2 * env.size
        self.net, self.rnd = ActorCritic(n_obs, 4), RND(n_obs)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=args.lr, eps=1e-5)
        self.opt_rnd = torch.optim.Adam(self.rnd.predictor.parameters(), lr=args.lr)
        self.filter = RewardForwardFilter(args.gamma_int)
        self.obs = env.reset()
        self.scores = deque(maxlen=20)
        self.score = 0.0

    @torch.no_grad()
    def rollout(self):
        batch = {k: [] for k in ("obs", "next_obs", "act", "logp", "rew", "done", "v_ext", "v_int")}
        for _ in range(self.args.steps):
            dist, v_ext, v_int = self.net(self.obs)
            act = dist.sample()
            next_obs, rew, done = self.env.step(act.item())
            self.score += rew
            for k, v in zip(batch, (self.obs, next_obs, act, dist.log_prob(act), rew, float(done), v_ext, v_int)):
                batch[k].append(torch.as_tensor(v))
            if done:
                self.scores.append(self.score)
                self.score, next_obs = 0.0, self.env.reset()
            self.obs = next_obs
        _, last_ext, last_int = self.net(self.obs)
        return {k: torch.stack(v) for k, v in batch.items()}, last_ext, last_int

    def gae(self, rew, done, value, last, gamma, lam=0.95):
        adv, run = [], 0.0
        nxt = last
        for t in reversed(range(len(rew))):
            delta = rew[t] + gamma * nxt * (1 - done[t]) - value[t]
            run = delta + gamma * lam * (1 - done[t]) * run
            adv.insert(0, run)
            nxt = value[t]
        return torch.stack(adv)

    def intrinsic(self, next_obs):
        raw = self.rnd.error(next_obs)
        spread = torch.stack([self.filter.update(r) for r in raw]).std()
        return raw / (spread + 1e-6)

    def update(self):
        b, last_ext, last_int = self.rollout()
        r_int = self.intrinsic(b["next_obs"])
        adv_ext = self.gae(b["rew"], b["done"], b["v_ext"], last_ext, self.args.gamma)
        adv_int = self.gae(r_int, torch.zeros_like(r_int), b["v_int"], last_int, self.args.gamma_int)
        ret_ext, ret_int = adv_ext + b["v_ext"], adv_int + b["v_int"]
        adv = 2.0 * adv_ext + adv_int
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for _ in range(self.args.epochs):
            for idx in torch.randperm(self.args.steps).split(self.args.minibatch):
                dist, v_ext, v_int = self.net(b["obs"][idx])
                ratio = torch.exp(dist.log_prob(b["act"][idx]) - b["logp"][idx])
                a = adv[idx]
                pi_loss = -torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean()
                v_loss = F.mse_loss(v_ext, ret_ext[idx]) + F.mse_loss(v_int, ret_int[idx])
                loss = pi_loss + 0.5 * v_loss - 0.01 * dist.entropy().mean()
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
                self.opt.step()

                rnd_loss = self.rnd.error(b["next_obs"][idx]).mean()
                self.opt_rnd.zero_grad()
                rnd_loss.backward()
                self.opt_rnd.step()
        return loss.item(), rnd_loss.item(), r_int.mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--updates", type=int, default=3)
    p.add_argument("--steps", type=int, default=24)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--minibatch", type=int, default=12)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--gamma", type=float, default=0.99)
    p.add_argument("--gamma_int", type=float, default=0.9)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    agent = Agent(Maze(3, random.Random(args.seed)), args)
    for update in range(args.updates):
        print("update %d loss %.6f rnd %.6f intrinsic %.6f episodes %d" % (update, *agent.update(), len(agent.scores)))


if __name__ == "__main__":
    main()
