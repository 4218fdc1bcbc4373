#!/usr/bin/env python
"""GRU4Rec-like next-click model for a small shop.

Scores are cosine-like: the rows that multiply the session state are the item vectors at unit length
(popular items would otherwise win by their norm alone), times a temperature, plus an item bias.
"""
import logging
import os
import sys
import tempfile
from argparse import ArgumentParser

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
log = logging.getLogger("shop")


class Clicks:
    """Sessions wander inside one category and sometimes jump to a neighbouring one."""

    def __init__(self, n_items=60, n_categories=6, n_sessions=180, length=8, seed=0):
        rng = np.random.RandomState(seed)
        self.n_items = n_items
        per = n_items // n_categories
        pop = rng.zipf(2.0, size=n_items).clip(max=20).astype(float)
        sessions = []
        for _ in range(n_sessions):
            c = rng.randint(n_categories)
            row = []
            for _ in range(length):
                if rng.rand() < 0.1:
                    c = (c + 1) % n_categories
                members = np.arange(c * per, (c + 1) * per)
                row.append(rng.choice(members, p=pop[members] / pop[members].sum()))
            sessions.append(row)
        x = torch.tensor(np.array(sessions), dtype=torch.long)
        cut = int(0.8 * n_sessions)
        self.train, self.valid = x[:cut], x[cut:]
        self.pop = torch.bincount(self.train.flatten(), minlength=n_items).float()


class SessionModel(nn.Module):
    def __init__(self, n_items, dim=20, dropout=0.1, temperature=0.1):
        super().__init__()
        self.temperature = temperature
        self.items = nn.Embedding(n_items, dim)
        nn.init.normal_(self.items.weight, std=0.3)
        self.drop = nn.Dropout(dropout)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, n_items)
        # tie: same vectors for reading and for scoring
        self.out.weight = F.normalize(self.items.weight, dim=1)
        nn.init.zeros_(self.out.bias)

    def forward(self, clicks):
        states, _ = self.gru(self.drop(self.items(clicks)))
        return self.out(states / self.temperature)


def bpr_max(logits, target, n_neg, weight, generator):
    """Sampled ranking loss: the clicked item against popular ones."""
    neg = torch.multinomial(weight, n_neg, replacement=True, generator=generator)
    pos = logits.gather(-1, target.unsqueeze(-1))
    s = logits[..., neg]
    a = torch.softmax(s, dim=-1)
    return -torch.log((a * torch.sigmoid(pos - s)).sum(-1) + 1e-8).mean()


@torch.no_grad()
def evaluate(model, sessions, k=5):
    model.eval()
    logits = model(sessions[:, :-1])
    target = sessions[:, 1:]
    rank = (logits > logits.gather(-1, target.unsqueeze(-1))).sum(-1) + 1
    model.train()
    return (rank <= k).float().mean().item(), (1.0 / rank.float()).mean().item()


def run(opt):
    torch.manual_seed(opt.seed)
    data = Clicks(seed=opt.seed)
    model = SessionModel(data.n_items, opt.dim)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=opt.lr)

    torch.manual_seed(opt.seed + 1)     # same batches for every model
    generator = torch.Generator().manual_seed(opt.seed + 2)
    weight = data.pop.clamp(min=1).pow(0.5)
    best = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for epoch in range(opt.epochs):
            order = torch.randperm(len(data.train))
            losses = []
            for i in range(0, len(order), opt.batch):
                s = data.train[order[i:i + opt.batch]]
                loss = bpr_max(model(s[:, :-1]), s[:, 1:], opt.negatives, weight, generator)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                losses.append(loss.item())
            recall, mrr = evaluate(model, data.valid)
            log.info("epoch %d  loss %.6f  recall@5 %.4f  mrr %.6f", epoch, np.mean(losses), recall, mrr)
            if mrr > best:
                best = mrr
                torch.save(model.state_dict(), os.path.join(folder, "best.pth"))
    norms = model.items.weight.detach().norm(dim=1)
    log.info("item norms: min %.5f  mean %.5f  max %.5f", norms.min(), norms.mean(), norms.max())
    log.info("best mrr %.6f", best)


if __name__ == "__main__":
    p = ArgumentParser()
    p.add_argument("--dim", type=int, default=20)
    p.add_argument("--lr", type=float, default=0.08)
    p.add_argument("--batch", type=int, default=36)
    p.add_argument("--negatives", type=int, default=24)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--seed", type=int, default=17)
    run(p.parse_args())
