"""Fit one template mesh to a handful of scanned shapes (auto-decoder: every scan owns a latent code)."""
import argparse
import logging

import numpy as np
import torch
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("deform")


def ring_template(rings=5, per_ring=8):
    """A little tube of rings*per_ring vertices and the edges along and around it."""
    v, e = [], []
    for r in range(rings):
        for k in range(per_ring):
            a = 2 * np.pi * k / per_ring
            v.append([np.cos(a), np.sin(a), r / (rings - 1) * 2 - 1])
            i = r * per_ring + k
            e.append([i, r * per_ring + (k + 1) % per_ring])
            if r + 1 < rings:
                e.append([i, i + per_ring])
    return torch.tensor(v, dtype=torch.float32), torch.tensor(e)


def make_scans(n, template, seed):
    g = np.random.RandomState(seed)
    scans = []
    for _ in range(n):
        squash = torch.tensor(1 + 0.4 * g.randn(3), dtype=torch.float32)
        bend = float(g.uniform(-0.4, 0.4))
        pts = template * squash
        pts = torch.stack([pts[:, 0] + bend * pts[:, 2] ** 2, pts[:, 1], pts[:, 2]], 1)
        scans.append(pts + 0.01 * torch.tensor(g.randn(*pts.shape), dtype=torch.float32))
    return scans


def chamfer(a, b):
    d = torch.cdist(a, b)
    return d.min(1)[0].mean() + d.min(0)[0].mean()


def edge_lengths(v, edges):
    return (v[edges[:, 0]] - v[edges[:, 1]]).norm(dim=1)


class TemplateDecoder(nn.Module):
    def __init__(self, template, edges, n_codes, latent=6, hidden=32):
        super().__init__()
        self.register_buffer("template", template)
        self.register_buffer("edges", edges)
        self.codes = nn.Embedding(n_codes, latent)
        nn.init.normal_(self.codes.weight, std=0.1)
        self.net = nn.Sequential(nn.Linear(latent, hidden), nn.ELU(), nn.Linear(hidden, template.numel()))

    def forward(self, index):
        # deformed mesh = template + offsets of this code
        verts = self.template + 0.1 * self.net(self.codes(index)).view(-1, 3)
        return verts

    def stretch(self, verts):
        """Edges should stay about as long as they are in the template."""
        rest = edge_lengths(self.template, self.edges)
        return (edge_lengths(verts, self.edges) - rest).pow(2).mean()


class Fitter:
    def __init__(self, args):
        template, edges = ring_template()
        self.scans = make_scans(args.scans, template, args.seed)
        self.model = TemplateDecoder(template, edges, args.scans)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, 3, gamma=0.7)
        self.args = args

    def epoch(self):
        total = 0.0
        for i, scan in enumerate(self.scans):
            verts = self.model(torch.tensor(i))
            fit = chamfer(verts, scan)
            reg = self.model.stretch(verts)
            loss = fit + self.args.w_edge * reg
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        self.sched.step()
        return total / len(self.scans)

    @torch.no_grad()
    def evaluate(self):
        drift = (self.model.template - ring_template()[0]).abs().max()
        err = [chamfer(self.model(torch.tensor(i)), s).item() for i, s in enumerate(self.scans)]
        return float(np.mean(err)), drift.item()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--scans", type=int, default=4)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--lr", type=float, default=2e-2)
    p.add_argument("--w-edge", type=float, default=2.0)
    p.add_argument("--seed", type=int, default=11)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    fitter = Fitter(args)
    for ep in range(args.epochs):
        print("epoch %d loss %.6f" % (ep, fitter.epoch()))
    err, drift = fitter.evaluate()
    print("chamfer %.6f, template moved by %.6f" % (err, drift))
