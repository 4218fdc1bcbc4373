#!/usr/bin/env python3
"""Grounded navigation, recurrent A2C with n-step updates inside of an episode.
The instruction ("go to the red cup") stays the same for the whole episode."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class InstructionEncoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, 8)
        self.rnn = nn.GRU(8, dim, batch_first=True)

    def forward(self, tokens):
        _, h = self.rnn(self.emb(tokens))
        return h[-1]


class GatedPolicy(nn.Module):
    def __init__(self, obs_dim, n_act, vocab, hid=16):
        super().__init__()
        self.hid = hid
        self.instr = InstructionEncoder(vocab, hid)
        self.see = nn.Linear(obs_dim, hid)
        self.core = nn.GRUCell(hid, hid)
        self.actor = nn.Linear(hid, n_act)
        self.critic = nn.Linear(hid, 1)

    def forward(self, obs, goal, hx):
        x = F.relu(self.see(obs)) * torch.sigmoid(goal)      # gated attention
        hx = self.core(x, hx)
        return self.actor(hx), self.critic(hx).squeeze(-1), hx


class ToyRooms:
    """no real renderer here: reward for acting like the first word of the instruction"""

    def __init__(self, n_envs, seed):
        self.rng = np.random.RandomState(seed)
        self.n = n_envs

    def reset(self):
        self.words = self.rng.randint(0, 12, size=(self.n, 4))
        return self.observe(), self.words

    def observe(self):
        return self.rng.randn(self.n, 6).astype(np.float32)

    def step(self, a):
        r = (a == self.words[:, 0] % 3).astype(np.float32) - 0.1
        return self.observe(), r


class Runner:
    def __init__(self, args):
        self.args = args
        self.env = ToyRooms(args.num_envs, args.seed)
        self.net = GatedPolicy(6, 3, 12)
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=args.lr)

    def start_episode(self):
        obs, words = self.env.reset()
        self.obs = torch.from_numpy(obs)
        self.words = torch.from_numpy(words)
        self.hx = torch.zeros(self.args.num_envs, self.net.hid)

    def window(self):
        logps, vals, rews, ents = [], [], [], []
        self.hx = self.hx.detach()           # truncated BPTT
        self.goal = self.net.instr(self.words)
        for _ in range(self.args.n_steps):
            logits, v, self.hx = self.net(self.obs, self.goal, self.hx)
            pi = Categorical(logits=logits)
            a = pi.sample()
            obs, r = self.env.step(a.numpy())
            self.obs = torch.from_numpy(obs)
            logps.append(pi.log_prob(a)); vals.append(v); ents.append(pi.entropy())
            rews.append(torch.from_numpy(r))
        with torch.no_grad():
            _, R, _ = self.net(self.obs, self.goal, self.hx)
        loss = 0.
        for t in reversed(range(self.args.n_steps)):
            R = rews[t] + self.args.gamma * R
            adv = R - vals[t]
            loss = loss + (-logps[t] * adv.detach() + 0.5 * adv.pow(2) - 0.01 * ents[t]).mean()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 5.)
        self.opt.step()
        return loss.item(), torch.stack(rews).mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--seed', type=int, default=4)
    ap.add_argument('--num-envs', type=int, default=5)
    ap.add_argument('--n-steps', type=int, default=4)
    ap.add_argument('--windows', type=int, default=3, help='updates per episode')
    ap.add_argument('--episodes', type=int, default=3)
    ap.add_argument('--gamma', type=float, default=.95)
    ap.add_argument('--lr', type=float, default=3e-3)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    runner = Runner(args)
    for ep in range(args.episodes):
        runner.start_episode()
        for w in range(args.windows):
            loss, rew = runner.window()
            print('ep %d upd %d loss %.5f rew %.3f' % (ep, w, loss, rew))


if __name__ == '__main__':
    main()
