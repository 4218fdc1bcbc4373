"""BPR matrix factorisation for a public library, plus fold-in of readers who joined after training."""
import argparse
import logging
import sys
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.INFO)
log = logging.getLogger("library")


@dataclass
class Config:
    n_users: int = 40
    n_books: int = 60
    n_new: int = 3
    dim: int = 12
    epochs: int = 5
    batch: int = 64
    lr: float = 0.02
    l2: float = 1e-4
    fold_steps: int = 8
    fold_lr: float = 0.05
    neighbours: int = 5
    seed: int = 13


def simulate_loans(cfg):
    """Readers and books live in a few genres; returns one set of loans per reader."""
    rng = np.random.default_rng(cfg.seed)
    genres = 5
    taste = rng.dirichlet(np.full(genres, 0.4), size=cfg.n_users + cfg.n_new)
    books = rng.integers(0, genres, size=cfg.n_books)
    loans = []
    for t in taste:
        p = t[books] + 0.02
        loans.append(rng.choice(cfg.n_books, size=10, replace=False, p=p / p.sum()))
    return loans


class BPR(nn.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.item_bias = nn.Embedding(n_items, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        nn.init.zeros_(self.item_bias.weight)

    def score(self, vec, items):
        """vec: (..., dim) reader vectors, items: ids of the same leading shape"""
        return (vec * self.item(items)).sum(-1) + self.item_bias(items).squeeze(-1)

    def bpr_loss(self, vec, pos, neg):
        return -F.logsigmoid(self.score(vec, pos) - self.score(vec, neg)).mean()

    def rank(self, vec):
        return self.item.weight @ vec + self.item_bias.weight.squeeze(-1)


def sample_negatives(pos_sets, users, n_items, rng):
    out = []
    for u in users:
        j = int(rng.integers(n_items))
        while j in pos_sets[u]:
            j = int(rng.integers(n_items))
        out.append(j)
    return torch.tensor(out)


def train(model, loans, cfg, rng):
    pairs = np.array([(u, b) for u in range(cfg.n_users) for b in loans[u][:-2]])
    pos_sets = [set(l.tolist()) for l in loans]
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.l2)
    for epoch in range(cfg.epochs):
        rng.shuffle(pairs)
        losses = []
        for k in range(0, len(pairs), cfg.batch):
            users, pos = torch.from_numpy(pairs[k:k + cfg.batch].T.copy())
            neg = sample_negatives(pos_sets, users.tolist(), cfg.n_books, rng)
            loss = model.bpr_loss(model.user(users), pos, neg)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        log.info("epoch %d bpr %.6f hit@10 %.4f", epoch, np.mean(losses), hit_rate(model, loans, cfg))


@torch.no_grad()
def hit_rate(model, loans, cfg, k=10):
    hits = 0
    for u in range(cfg.n_users):
        scores = model.rank(model.user.weight[u])
        scores[torch.as_tensor(loans[u][:-2])] = -1e9
        hits += len(set(scores.topk(k).indices.tolist()) & set(loans[u][-2:].tolist()))
    return hits / (2 * cfg.n_users)


def most_similar(loans, history, cfg):
    """Known readers with the largest overlap of loans."""
    overlap = [len(set(loans[u].tolist()) & set(history.tolist())) for u in range(cfg.n_users)]
    order = np.argsort(-np.array(overlap), kind="stable")[:cfg.neighbours]
    return torch.as_tensor(order.copy())


def fold_in(model, loans, history, cfg, rng):
    """Fits the vector of one new reader; the trained tables stay as they are."""
    friends = most_similar(loans, history, cfg)
    with torch.no_grad():
        vec = model.user(friends).mean(0)
    optimizer = torch.optim.Adam([vec], lr=cfg.fold_lr)
    pos = torch.as_tensor(history)
    seen = {0: set(history.tolist())}
    curve = []
    for _ in range(cfg.fold_steps):
        neg = sample_negatives(seen, [0] * len(history), cfg.n_books, rng)
        loss = model.bpr_loss(vec, pos, neg) + cfg.l2 * vec.pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        curve.append(loss.item())
    return vec.detach(), curve


def main():
    cfg = Config()
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=cfg.epochs)
    parser.add_argument("--fold-steps", type=int, default=cfg.fold_steps)
    args = parser.parse_args()
    cfg.epochs, cfg.fold_steps = args.epochs, args.fold_steps
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed + 1)

    loans = simulate_loans(cfg)
    model = BPR(cfg.n_users, cfg.n_books, cfg.dim)
    train(model, loans, cfg, rng)
    for i in range(cfg.n_new):
        loan = loans[cfg.n_users + i]
        vec, curve = fold_in(model, loans, loan[:-2], cfg, rng)
        with torch.no_grad():
            held_out = model.rank(vec)[torch.as_tensor(loan[-2:])].mean().item()
        log.info("new reader %d: loss %.6f -> %.6f |v| %.6f held-out score %.6f",
                 i, curve[0], curve[-1], vec.norm().item(), held_out)
    log.info("tables %.6f %.6f", model.user.weight.norm().item(), model.item.weight.norm().item())


if __name__ == "__main__":
    main()
