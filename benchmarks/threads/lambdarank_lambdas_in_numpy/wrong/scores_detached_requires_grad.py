"""LambdaRank for a small learning-to-rank problem (queries with graded documents), pairs by hand.

The lambdas are the gradients that the pairs put on the scores (Burges 2010, eq. 6); there is no closed-form cost, the
"loss" below is only there to hand the lambdas to autograd.
"""
import argparse
import numpy as np
import torch
from torch import nn


def dcg_discount(n):
    return 1.0 / np.log2(np.arange(n) + 2.0)


def ideal_dcg(labels, k=None):
    gains = np.sort(2.0 ** labels - 1.0)[::-1]
    return float((gains * dcg_discount(len(gains))).sum())


def ndcg(scores, labels):
    order = np.argsort(-scores, kind="stable")
    return float(((2.0 ** labels - 1.0)[order] * dcg_discount(len(labels))).sum() / ideal_dcg(labels))


class LambdaRank:
    def __init__(self, sigma=1.0):
        self.sigma = sigma

    def lambdas(self, scores, labels):
        """n x n, entry ij for the pairs with label i > label j: sigma / (1 + exp(sigma (s_i - s_j))) |delta NDCG|"""
        s = scores.detach().numpy()
        n = len(s)
        rank = np.empty(n, dtype=int)
        rank[np.argsort(-s, kind="stable")] = np.arange(n)
        gain, disc = 2.0 ** labels - 1.0, dcg_discount(n)[rank]
        delta = np.abs((gain[:, None] - gain[None]) * (disc[:, None] - disc[None])) / ideal_dcg(labels)
        rho = self.sigma / (1.0 + np.exp(self.sigma * (s[:, None] - s[None])))
        return torch.from_numpy(rho * delta * (labels[:, None] > labels[None])).float()

    def __call__(self, scores, labels):
        scores = scores.detach().requires_grad_(True)
        lam = self.lambdas(scores, labels)
        return -(lam * (scores[:, None] - scores[None, :])).sum()


class Ranker(nn.Module):
    def __init__(self, n_features, hidden=16, dropout=0.0):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_features, hidden), nn.ELU(), nn.Dropout(dropout), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def make_queries(n, docs, feats, rng):
    w = rng.normal(size=feats)
    for _ in range(n):
        x = rng.normal(size=(docs, feats))
        rel = np.digitize(np.tanh(x @ w) + 0.3 * rng.normal(size=docs), [-0.2, 0.5, 0.9])
        yield torch.tensor(x, dtype=torch.float32), rel.astype(float)


def evaluate(model, queries):
    model.eval()
    with torch.no_grad():
        return np.mean([ndcg(model(x).numpy(), y) for x, y in queries])


def train(args):
    rng = np.random.default_rng(args.seed)
    torch.manual_seed(args.seed)
    queries = list(make_queries(8, 10, 6, rng))
    model, criterion = Ranker(6), LambdaRank()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    print("NDCG before %.6f" % evaluate(model, queries))
    for epoch in range(args.epochs):
        model.train()
        for x, y in queries:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        print("epoch %d NDCG %.6f" % (epoch, evaluate(model, queries)))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--seed", type=int, default=9)
    train(ap.parse_args())
