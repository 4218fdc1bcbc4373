from dataclasses import dataclass, field
from typing import List

import numpy as np
import torch
import torch.nn as nn


@dataclass
class Config:
    n_patients: int = 90
    n_genes: int = 15
    hidden: List[int] = field(default_factory=lambda: [16, 8])
    dropout: float = 0.0
    lr: float = 8e-3
    l2: float = 1e-3
    batch: int = 30
    epochs: int = 3
    seed: int = 2020


class CoxNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        dims = [cfg.n_genes] + cfg.hidden
        mods = []
        for a, b in zip(dims[:-1], dims[1:]):
            mods += [nn.Linear(a, b), nn.SELU(), nn.AlphaDropout(cfg.dropout)]
        self.trunk = nn.Sequential(*mods)
        self.risk = nn.Linear(dims[-1], 1, bias=False)

    def forward(self, x):
        return self.risk(self.trunk(x)).squeeze(1)


def cohort(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    x = torch.randn(cfg.n_patients, cfg.n_genes, generator=g)
    hazard = torch.exp(0.8 * x[:, 0] - 0.6 * x[:, 1] * x[:, 2])
    t = -torch.log(torch.rand(cfg.n_patients, generator=g)) / hazard
    c = -torch.log(torch.rand(cfg.n_patients, generator=g)) / 0.4
    return x, torch.minimum(t, c), (t <= c).float()


def neg_partial_likelihood(log_h, time, event):
    """Breslow, no special care of ties.

    log_h : (n,) predicted log hazards
    """
    order = torch.argsort(time)
    log_h, event = log_h[order], event[order]
    shift = log_h.max().detach()
    # hazards of everybody who is still at risk at the i-th time: patient i and all that come later
    risk = torch.exp(log_h - shift).flip(0).cumsum(0).flip(0)
    log_lik = (log_h - shift - torch.log(risk)) * event
    return -log_lik.sum() / event.sum().clamp(min=1)


def c_index(log_h, time, event):
    log_h, time, event = (np.asarray(v) for v in (log_h, time, event))
    num = den = 0.0
    for i in range(len(time)):
        if event[i]:
            later = time > time[i]
            num += (log_h[later] < log_h[i]).sum()
            den += later.sum()
    return num / max(den, 1)


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    x, time, event = cohort(cfg)
    model = CoxNet(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.l2)
    for epoch in range(cfg.epochs):
        model.train()
        losses = []
        for idx in torch.randperm(cfg.n_patients).split(cfg.batch):
            loss = neg_partial_likelihood(model(x[idx]), time[idx], event[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            ci = c_index(model(x), time, event)
        print("epoch", epoch, "npl", round(float(np.mean(losses)), 6), "c-index", round(float(ci), 4))


if __name__ == "__main__":
    main()
