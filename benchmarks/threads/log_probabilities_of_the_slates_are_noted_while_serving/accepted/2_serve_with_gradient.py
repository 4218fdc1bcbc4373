"""Slate bandit for a news front page: three teasers out of a pool, clicks as feedback.

Policy gradient on a Plackett-Luce ranking with a learned baseline. Traffic is simulated.
"""
import argparse
import json
import os
import tempfile
from collections import namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

Impression = namedtuple("Impression", "user pool slate log_prob clicks")


class FrontPage:
    """readers with latent interests, a fresh pool of articles on every page view"""

    def __init__(self, n_topics=6, pool=10, seed=0):
        self.rng = np.random.default_rng(seed)
        self.n_topics, self.pool = n_topics, pool
        self.position_bias = np.array([1.0, 0.7, 0.5])

    def visit(self):
        taste = self.rng.dirichlet(0.4 * np.ones(self.n_topics))
        topics = self.rng.dirichlet(0.3 * np.ones(self.n_topics), size=self.pool)
        age = self.rng.uniform(0, 1, size=(self.pool, 1))
        user = taste + 0.05 * self.rng.normal(size=self.n_topics)
        arts = np.concatenate([topics, age], axis=1)
        appeal = 1 / (1 + np.exp(-(6 * topics @ taste - 1.5 * age[:, 0] - 2.0)))
        return torch.tensor(user, dtype=torch.float32), torch.tensor(arts, dtype=torch.float32), appeal

    def click(self, appeal, slate):
        p = appeal[slate] * self.position_bias[: len(slate)]
        return (self.rng.uniform(size=len(slate)) < p).astype("float32")


class SlatePolicy(nn.Module):
    def __init__(self, n_user, n_art, hidden=24, slate_size=3):
        super().__init__()
        self.slate_size = slate_size
        self.user = nn.Linear(n_user, hidden)
        self.art = nn.Linear(n_art, hidden)
        self.mix = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, user, pool):
        u = torch.relu(self.user(user)).unsqueeze(-2).expand(*pool.shape[:-1], -1)
        a = torch.relu(self.art(pool))
        return self.mix(torch.cat([u * a, a], dim=-1)).squeeze(-1)

    def slate_log_prob(self, scores, slate):
        """Plackett-Luce: without replacement, one position after the other"""
        total = 0
        taken = torch.zeros_like(scores, dtype=torch.bool)
        for k in range(slate.size(-1)):
            logp = F.log_softmax(scores.masked_fill(taken, float("-inf")), dim=-1)
            pick = slate[..., k:k + 1]
            total = total + logp.gather(-1, pick).squeeze(-1)
            taken = taken.scatter(-1, pick, True)
        return total

    def sample(self, scores):
        gumbel = -torch.log(-torch.log(torch.rand_like(scores)))
        slate = (scores + gumbel).topk(self.slate_size, dim=-1).indices
        return slate, self.slate_log_prob(scores, slate)

    def serve(self, user, pool):
        return self.sample(self(user, pool))

    @torch.no_grad()
    def best(self, user, pool):
        return self(user, pool).topk(self.slate_size, dim=-1).indices


class Baseline(nn.Module):
    def __init__(self, n_user, hidden=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_user, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, user):
        return self.net(user).squeeze(-1)


class BanditTrainer:
    def __init__(self, site, args):
        self.site, self.args = site, args
        self.policy = SlatePolicy(site.n_topics, site.n_topics + 1)
        self.baseline = Baseline(site.n_topics)
        self.opt_policy = torch.optim.Adam(self.policy.parameters(), lr=args.lr)
        self.opt_baseline = torch.optim.Adam(self.baseline.parameters(), lr=args.lr_baseline)
        self.log = []

    def collect(self, n):
        for _ in range(n):
            user, pool, appeal = self.site.visit()
            slate, log_prob = self.policy.serve(user, pool)
            clicks = self.site.click(appeal, slate.numpy())
            self.log.append(Impression(user, pool, slate, log_prob, clicks))

    def update(self):
        users = torch.stack([i.user for i in self.log])
        reward = torch.tensor([i.clicks.sum() for i in self.log])
        value = self.baseline(users)

        log_prob = torch.stack([i.log_prob for i in self.log])
        advantage = reward - value.detach()
        policy_loss = -(advantage * log_prob).mean()
        self.opt_policy.zero_grad()
        policy_loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), self.args.clip)
        self.opt_policy.step()

        value_loss = F.mse_loss(value, reward)
        self.opt_baseline.zero_grad()
        value_loss.backward()
        self.opt_baseline.step()

        self.log.clear()
        return policy_loss.item(), value_loss.item(), reward.mean().item()

    def expected_clicks(self, visits):
        total = 0.0
        for user, pool, appeal in visits:
            slate = self.policy.best(user, pool).numpy()
            total += float((appeal[slate] * self.site.position_bias).sum())
        return total / len(visits)

    def run(self):
        holdout = FrontPage(self.site.n_topics, self.site.pool, seed=self.args.seed + 100)
        visits = [holdout.visit() for _ in range(60)]
        history = [self.expected_clicks(visits)]
        print(f"random init: expected clicks {history[0]:.5f}")
        for r in range(self.args.rounds):
            self.collect(self.args.page_views)
            pl, vl, clicks = self.update()
            if r % 2 == 1:
                history.append(self.expected_clicks(visits))
                print(f"round {r + 1}: policy loss {pl:.6f} value loss {vl:.6f} clicks {clicks:.4f} "
                      f"greedy {history[-1]:.5f}")
        return history


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=10)
    p.add_argument("--page-views", type=int, default=40)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--lr-baseline", type=float, default=2e-2)
    p.add_argument("--clip", type=float, default=1.0)
    p.add_argument("--seed", type=int, default=8)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    trainer = BanditTrainer(FrontPage(seed=args.seed), args)
    history = trainer.run()
    with tempfile.TemporaryDirectory() as folder:
        torch.save(trainer.policy.state_dict(), os.path.join(folder, "policy.pt"))
        with open(os.path.join(folder, "history.json"), "w") as f:
            json.dump(history, f)


if __name__ == "__main__":
    main()
