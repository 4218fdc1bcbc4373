"""Segmentation of curves with a loss on the critical pixels of the likelihood map.

0-dim persistent homology of the superlevel sets, computed with a union find on numpy arrays (no gudhi needed):
a component is born at a local maximum and dies at the saddle where it meets an older one.
"""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def find(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def persistence_pairs(img):
    """returns arrays of birth pixels and death pixels (flat index), the oldest component has no death"""
    h, w = img.shape
    flat = img.ravel()
    order = np.argsort(-flat, kind="stable")
    parent, birth_of, seen = np.arange(flat.size), np.arange(flat.size), np.zeros(flat.size, bool)
    births, deaths = [], []
    for p in order:
        seen[p] = True
        r, c = divmod(p, w)
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            rr, cc = r + dr, c + dc
            if 0 <= rr < h and 0 <= cc < w and seen[rr * w + cc]:
                a, b = find(parent, p), find(parent, rr * w + cc)
                if a == b:
                    continue
                if flat[birth_of[a]] < flat[birth_of[b]]:
                    a, b = b, a
                if birth_of[b] != p:        # the younger one dies here
                    births.append(birth_of[b])
                    deaths.append(p)
                parent[b] = a
    return np.array(births, dtype=np.int64), np.array(deaths, dtype=np.int64)


def get_topo_loss(likelihood, n_true, eps=0.02):
    """likelihood: H x W tensor in (0, 1). The n_true - 1 most persistent pairs are pulled apart,
    the other ones are closed (their birth is pushed down to their death)."""
    lh = likelihood.numpy()
    births, deaths = persistence_pairs(lh)
    if len(births) == 0:
        return likelihood.new_zeros(())
    pers = lh.ravel()[births] - lh.ravel()[deaths]
    keep = np.argsort(-pers)
    force, remove = keep[:n_true - 1], keep[n_true - 1:]
    remove = remove[pers[remove] > eps]

    topo_cp_weight_map = np.zeros(lh.size)
    topo_cp_ref_map = np.zeros(lh.size)
    for i in force:
        topo_cp_weight_map[[births[i], deaths[i]]] = 1
        topo_cp_ref_map[births[i]], topo_cp_ref_map[deaths[i]] = 1, 0
    for i in remove:
        topo_cp_weight_map[[births[i], deaths[i]]] = 1
        topo_cp_ref_map[births[i]] = lh.ravel()[deaths[i]]
        topo_cp_ref_map[deaths[i]] = lh.ravel()[births[i]]

    weight_map = torch.from_numpy(topo_cp_weight_map).float()
    ref_map = torch.from_numpy(topo_cp_ref_map).float()
    # Measuring the MSE loss between predicted critical points and reference critical points
    return (((likelihood.reshape(-1) * weight_map) - ref_map) ** 2).sum()


class SmallUNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.out = nn.Conv2d(2 * width, 1, 3, padding=1)

    def forward(self, x):
        a = self.down(x)
        b = F.interpolate(self.mid(a), scale_factor=2)
        return self.out(torch.cat([a, b], 1)).squeeze(1)


def curves(n, size=16, seed=0):
    rs = np.random.RandomState(seed)
    masks, counts = np.zeros((n, size, size), "float32"), []
    for i in range(n):
        k = rs.randint(2, 4)
        for row in np.linspace(2, size - 3, k).astype(int):
            masks[i, row, 1:size - 1] = 1
        counts.append(k)
    images = masks + 0.6 * rs.randn(n, size, size).astype("float32")
    return torch.from_numpy(images)[:, None], torch.from_numpy(masks), counts


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=8)
    ap.add_argument("--warmup", type=int, default=2)
    ap.add_argument("--lambda_topo", type=float, default=0.02)
    ap.add_argument("--lr", type=float, default=1e-2)
    opt = ap.parse_args()
    torch.manual_seed(0)
    images, masks, counts = curves(6)
    net = SmallUNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=opt.lr)
    for it in range(opt.iters):
        logits = net(images)
        loss_bce = F.binary_cross_entropy_with_logits(logits, masks)
        loss = loss_bce
        if it >= opt.warmup:
            with torch.no_grad():
                likelihood = torch.sigmoid(logits)
            loss_topo = sum(get_topo_loss(lh, n) for lh, n in zip(likelihood, counts)) / len(counts)
            loss = loss + opt.lambda_topo * loss_topo
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"it {it} bce {loss_bce.item():.5f} total {loss.item():.5f}")


if __name__ == "__main__":
    main()
