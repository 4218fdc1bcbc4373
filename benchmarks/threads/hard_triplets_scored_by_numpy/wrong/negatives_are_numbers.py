import itertools
import math
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Res8Small(nn.Module):
    """Residual convolutions over (time x mel), averaged, projected, on the unit sphere."""

    def __init__(self, n_mel=10, width=12, dim=8):
        super().__init__()
        self.conv0 = nn.Conv1d(n_mel, width, 3, padding=1, bias=False)
        self.convs = nn.ModuleList(nn.Conv1d(width, width, 3, padding=1, bias=False) for _ in range(4))
        self.norms = nn.ModuleList(nn.GroupNorm(3, width) for _ in range(4))
        self.proj = nn.Linear(width, dim)

    def forward(self, x):
        old = x = F.relu(self.conv0(x))
        for i, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            x = F.relu(norm(conv(x)))
            if i % 2 == 1:
                x = x + old
                old = x
        return F.normalize(self.proj(x.mean(-1)), dim=1)


def pairwise_distances(embeddings):
    """Euclidean distances between all rows."""
    e = embeddings.numpy()
    sq = (e ** 2).sum(1)
    d2 = sq[:, None] + sq[None, :] - 2 * e @ e.T
    return np.sqrt(np.maximum(d2, 1e-6))


class HardTripletSelector:
    """For every anchor-positive pair, the hardest negative that still violates the margin."""

    def __init__(self, margin):
        self.margin = margin

    def get_triplets(self, dist, labels):
        labels = np.asarray(labels)
        triplets = []
        for label in sorted(set(labels.tolist())):
            same = np.where(labels == label)[0]
            other = np.where(labels != label)[0]
            for a, p in itertools.combinations(same, 2):
                violation = dist[a, p] - dist[a, other] + self.margin
                hardest = int(violation.argmax())
                if violation[hardest] > 0:
                    triplets.append((int(a), int(p), int(other[hardest])))
        if not triplets:
            triplets.append((int(same[0]), int(same[1]), int(other[0])))
        return np.array(triplets)


class OnlineTripletLoss(nn.Module):
    def __init__(self, margin, selector):
        super().__init__()
        self.margin, self.selector = margin, selector

    def forward(self, embeddings, labels):
        dist = pairwise_distances(embeddings.detach())
        t = self.selector.get_triplets(dist, labels)
        a, p, n = (embeddings[torch.as_tensor(t[:, i])] for i in range(3))
        ap = (a - p).pow(2).sum(1).clamp(min=1e-6).sqrt()
        an = (a - n).pow(2).sum(1).clamp(min=1e-6).sqrt().detach()
        losses = F.relu(ap - an + self.margin)
        return losses.mean(), len(t)


class BalancedSampler:
    """k utterances of each of n keywords."""

    def __init__(self, labels, n, k, steps, seed):
        self.by_label = {}
        for i, y in enumerate(labels):
            self.by_label.setdefault(y, []).append(i)
        self.n, self.k, self.steps = n, k, steps
        self.rng = random.Random(seed)

    def __iter__(self):
        for _ in range(self.steps):
            batch = []
            for y in self.rng.sample(sorted(self.by_label), self.n):
                batch += self.rng.sample(self.by_label[y], self.k)
            yield batch


def keywords(n_words=6, per_word=8, n_mel=10, frames=16):
    g = torch.Generator().manual_seed(31)
    t = torch.linspace(0, 2 * math.pi, frames)
    xs, ys = [], []
    for w in range(n_words):
        base = torch.sin(t * (1 + w % 3) + torch.arange(n_mel)[:, None] * (0.3 + 0.1 * w))
        for _ in range(per_word):
            xs.append(base + 0.6 * torch.randn(n_mel, frames, generator=g))
            ys.append(w)
    return torch.stack(xs), ys


def nearest_accuracy(model, x, y):
    with torch.no_grad():
        dist = pairwise_distances(model(x))
    np.fill_diagonal(dist, np.inf)
    return float((np.array(y)[dist.argmin(1)] == np.array(y)).mean())


def main():
    torch.manual_seed(13)
    x, y = keywords()
    model = Res8Small()
    margin = 0.4
    criterion = OnlineTripletLoss(margin, HardTripletSelector(margin))
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    print("before %.4f" % nearest_accuracy(model, x, y))
    for step, batch in enumerate(BalancedSampler(y, n=4, k=4, steps=8, seed=2)):
        emb = model(x[batch])
        loss, n = criterion(emb, [y[i] for i in batch])
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("step %d loss %.5f triplets %d" % (step, loss.item(), n))
    print("after %.4f" % nearest_accuracy(model, x, y))


if __name__ == "__main__":
    main()
