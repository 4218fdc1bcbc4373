#!/usr/bin/env python
"""Consistency training: a frozen teacher labels what the loader yields."""
import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def make_net(width):
    return nn.Sequential(nn.Linear(10, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 3))


class Blobs(torch.utils.data.Dataset):
    def __init__(self, n, labelled):
        g = torch.Generator().manual_seed(n)
        centres = torch.randn(3, 10, generator=torch.Generator().manual_seed(0)) * 1.5
        self.y = torch.randint(3, (n,), generator=g)
        self.x = centres[self.y] + torch.randn(n, 10, generator=g)
        self.labelled = labelled

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return (self.x[i], self.y[i]) if self.labelled else self.x[i]


class EMA:
    def __init__(self, model, decay):
        self.module, self.decay = copy.deepcopy(model), decay

    def update(self, model):
        for a, b in zip(self.module.parameters(), model.parameters()):
            a.data.lerp_(b.data, 1 - self.decay)


def sharpen(p, T):
    p = p ** (1 / T)
    return p / p.sum(1, keepdim=True)


def loader(labelled, unlabelled, ema, args):
    """yields (x, y, u, q): labelled batch, unlabelled batch, and the teacher's guess for the latter"""
    it_l, it_u = iter(labelled), iter(unlabelled)
    for _ in range(args.steps):
        x, y = next(it_l)
        u = next(it_u)
        with torch.no_grad():                       # no graph for the guesses
            q = sharpen(ema.module(u).softmax(1), args.T)
            yield x, y, u + args.noise * torch.randn_like(u), q


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--steps', type=int, default=7)
    p.add_argument('--batch', type=int, default=16)
    p.add_argument('--width', type=int, default=20)
    p.add_argument('--T', type=float, default=0.5)
    p.add_argument('--noise', type=float, default=0.3)
    p.add_argument('--lam', type=float, default=2.0)
    args = p.parse_args()

    torch.manual_seed(490)
    model = make_net(args.width)
    ema = EMA(model, 0.9)
    opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
    dl = lambda d: torch.utils.data.DataLoader(d, args.batch, shuffle=True, drop_last=True)
    labelled, unlabelled = dl(Blobs(160, True)), dl(Blobs(320, False))

    for step, (x, y, u, q) in enumerate(loader(labelled, unlabelled, ema, args)):
        with torch.enable_grad():
            sup = F.cross_entropy(model(x), y)
        con = (model(u).softmax(1) - q).pow(2).mean()
        with torch.enable_grad():
            loss = sup + args.lam * con
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(model)
        print('step %d sup %.6f con %.6f' % (step, sup.item(), con.item()))


if __name__ == '__main__':
    main()
