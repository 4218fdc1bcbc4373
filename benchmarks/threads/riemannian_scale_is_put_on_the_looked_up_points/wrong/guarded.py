import argparse
import collections
import os
import tempfile

import numpy as np
import torch
from torch import nn

# ---------------------------------------------------------------- taxonomy

EDGES = """
instrument:string instrument:wind instrument:percussion
string:bowed string:plucked bowed:violin bowed:viola bowed:cello plucked:guitar plucked:harp plucked:lute
wind:brass wind:woodwind brass:trumpet brass:horn brass:tuba woodwind:flute woodwind:oboe woodwind:clarinet
percussion:drum percussion:mallet drum:snare drum:timpani mallet:marimba mallet:vibraphone
"""


class Taxonomy:
    """is-a pairs, transitively closed as in Nickel & Kiela"""

    def __init__(self, text):
        parent = {}
        for edge in text.split():
            a, b = edge.split(":")
            parent[b] = a
        self.names = sorted(set(parent) | set(parent.values()))
        self.index = {n: i for i, n in enumerate(self.names)}
        self.ancestors = collections.defaultdict(set)
        for child in parent:
            node = child
            while node in parent:
                node = parent[node]
                self.ancestors[self.index[child]].add(self.index[node])
        self.pairs = np.array([(c, a) for c, up in self.ancestors.items() for a in sorted(up)])

    def negatives(self, child, count, rng):
        free = [i for i in range(len(self.names)) if i != child and i not in self.ancestors[child]]
        return rng.choice(free, size=count, replace=True)

    def batches(self, size, n_neg, rng):
        order = rng.permutation(len(self.pairs))
        for i in range(0, len(order), size):
            rows = []
            for c, a in self.pairs[order[i:i + size]]:
                rows.append([c, a, *self.negatives(c, n_neg, rng)])
            yield torch.tensor(np.array(rows))


# ---------------------------------------------------------------- model

def poincare_distance(u, v, eps=1e-6):
    uu = (u * u).sum(-1).clamp(max=1 - 1e-5)
    vv = (v * v).sum(-1).clamp(max=1 - 1e-5)
    x = 2 * ((u - v) ** 2).sum(-1) / ((1 - uu) * (1 - vv)) + 1
    return torch.acosh(x.clamp(min=1 + eps))


def conformal_scale(points):
    return (1 - points.pow(2).sum(-1, keepdim=True)) ** 2 / 4


class PoincareEmbedding(nn.Module):
    def __init__(self, n, dim, max_norm=0.995):
        super().__init__()
        self.table = nn.Embedding(n, dim)
        nn.init.uniform_(self.table.weight, -0.05, 0.05)
        self.max_norm = max_norm

    def forward(self, rows):
        points = self.table(rows)                              # [B, 2 + neg, dim]
        dist = poincare_distance(points[:, :1], points[:, 1:])
        return points, dist

    @torch.no_grad()
    def project(self):
        w = self.table.weight
        norm = w.norm(dim=1, keepdim=True).clamp(min=1e-9)
        w.mul_(torch.where(norm > self.max_norm, self.max_norm / norm, torch.ones_like(norm)))


# ---------------------------------------------------------------- training

class Trainer:
    def __init__(self, model, taxonomy, cfg):
        self.model, self.taxonomy, self.cfg = model, taxonomy, cfg
        self.optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr)
        self.rng = np.random.default_rng(cfg.seed)

    def burn_in(self, epoch):
        factor = 0.1 if epoch < self.cfg.burn_in else 1.0
        for group in self.optimizer.param_groups:
            group["lr"] = self.cfg.lr * factor

    def step(self, rows):
        points, dist = self.model(rows)
        loss = nn.functional.cross_entropy(-dist, torch.zeros(len(rows), dtype=torch.long))
        self.optimizer.zero_grad()
        loss.backward()
        # Euclidean -> Riemannian gradient
        if points.grad is not None:
            points.grad.mul_(conformal_scale(points.detach()))
        self.optimizer.step()
        self.model.project()
        return loss.item()

    @torch.no_grad()
    def mean_rank(self):
        w = self.model.table.weight
        d = poincare_distance(w[:, None], w[None])
        ranks = []
        for child, up in self.taxonomy.ancestors.items():
            others = [i for i in range(len(w)) if i not in up and i != child]
            for a in sorted(up):
                ranks.append(1 + (d[child, others] < d[child, a]).sum().item())
        return float(np.mean(ranks))

    def fit(self, out):
        for epoch in range(self.cfg.epochs):
            self.burn_in(epoch)
            losses = [self.step(rows) for rows in self.taxonomy.batches(self.cfg.batch, self.cfg.negatives, self.rng)]
            if epoch % 5 == 4 or epoch == 0:
                norm = self.model.table.weight.detach().norm(dim=1)
                print(f"epoch {epoch + 1:3d}: loss {np.mean(losses):.6f}  mean rank {self.mean_rank():.4f}  "
                      f"|root| {norm[self.taxonomy.index['instrument']]:.5f}  max {norm.max():.5f}")
                torch.save(self.model.state_dict(), os.path.join(out, "poincare.pth"))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--dim", type=int, default=3)
    ap.add_argument("--epochs", type=int, default=25)
    ap.add_argument("--burn-in", type=int, default=5)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--negatives", type=int, default=5)
    ap.add_argument("--lr", type=float, default=1.5)
    ap.add_argument("--seed", type=int, default=4)
    cfg = ap.parse_args()

    torch.manual_seed(cfg.seed)
    taxonomy = Taxonomy(EDGES)
    model = PoincareEmbedding(len(taxonomy.names), cfg.dim)
    with tempfile.TemporaryDirectory() as out:
        Trainer(model, taxonomy, cfg).fit(out)
