#!/usr/bin/env python3
"""Recurrent team policy (behaviour cloning). Every agent learns its own first belief.

Episodes end inside of a window; where one ended, the belief is cleared before the next step.
"""
import argparse

import torch
from torch import nn
from torch.nn import functional as F


class TeamPolicy(nn.Module):
    def __init__(self, n_agents, obs_dim, hidden, n_actions):
        super().__init__()
        self.first_belief = nn.Parameter(0.3 * torch.randn(n_agents, hidden))
        self.embed = nn.Linear(obs_dim, hidden)
        self.core = nn.GRUCell(hidden, hidden)
        self.pi = nn.Linear(2 * hidden, n_actions)
        self.aux = nn.Linear(hidden, obs_dim)

    def forward(self, obs, keep):
        """obs [T, agents, obs_dim], keep [T, agents], 0 where the last step ended an episode"""
        belief = self.first_belief.detach()
        beliefs = []
        for t in range(obs.shape[0]):
            belief = belief * keep[t].unsqueeze(-1)
            belief = self.core(torch.relu(self.embed(obs[t])), belief)
            beliefs.append(belief)
        beliefs = torch.stack(beliefs)
        team = beliefs.mean(1, keepdim=True).expand_as(beliefs)
        logits = self.pi(torch.cat([beliefs, team], -1))
        return logits, self.aux(beliefs)


def window(T, n_agents, obs_dim, gen):
    obs = torch.randn(T, n_agents, obs_dim, generator=gen)
    keep = (torch.rand(T, n_agents, generator=gen) > 0.25).float()
    acc = torch.zeros(n_agents)
    actions = []
    for t in range(T):
        acc = acc * keep[t] + obs[t, :, 0]
        actions.append((acc > 0).long() + (obs[t, :, 1] > 0.5).long())
    return obs, keep, torch.stack(actions)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--updates", type=int, default=12)
    ap.add_argument("--lr", type=float, default=0.2)
    ap.add_argument("--aux", type=float, default=0.3)
    args = ap.parse_args()

    torch.manual_seed(17)
    gen = torch.Generator().manual_seed(23)
    policy = TeamPolicy(n_agents=5, obs_dim=4, hidden=16, n_actions=3)
    opt = torch.optim.SGD(policy.parameters(), lr=args.lr)

    for u in range(args.updates):
        obs, keep, actions = window(8, 5, 4, gen)
        logits, guess = policy(obs, keep)
        clone_loss = F.cross_entropy(logits.flatten(0, 1), actions.flatten())
        aux_loss = F.mse_loss(guess, obs)
        loss = clone_loss + args.aux * aux_loss
        opt.zero_grad()
        loss.backward()
        opt.step()
        if u % 3 == 2:
            print(f"{u:3d} clone {clone_loss.item():.5f} aux {aux_loss.item():.5f} |first| {policy.first_belief.norm().item():.5f}")


if __name__ == "__main__":
    main()
