#!/usr/bin/env python3
# Inverse heat conduction: find k(x, y) from a few thermometers.
# steady state by damped Jacobi iterations, differentiated by autograd
import argparse
import dataclasses
import torch
import torch.nn as nn


@dataclasses.dataclass
class Config:
    n: int = 10
    sweeps: int = 25
    k_wall: float = 0.05       # insulation, known
    steps: int = 7
    lr: float = 0.05
    smooth: float = 1e-3
    seed: int = 9


class Plate(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.k = nn.Parameter(torch.full((cfg.n, cfg.n), 1.0))
        q = torch.zeros(cfg.n, cfg.n)
        q[cfg.n // 2, cfg.n // 3] = 5.
        q[2, 7] = 3.
        self.register_buffer('q', q)

    def apply_walls(self):
        # Randzeilen: Wand, Wert ist bekannt
        w = self.cfg.k_wall
        k = self.k.clone()
        k[0, :] = w
        k[-1, :] = w
        k[:, 0] = w
        k[:, -1] = w
        return k

    @staticmethod
    def harmonic(a, b):
        return 2 * a * b / (a + b)

    def solve(self, k):
        c = k[1:-1, 1:-1]
        kn, ks = self.harmonic(c, k[:-2, 1:-1]), self.harmonic(c, k[2:, 1:-1])
        kw, ke = self.harmonic(c, k[1:-1, :-2]), self.harmonic(c, k[1:-1, 2:])
        T = torch.zeros_like(k)
        for _ in range(self.cfg.sweeps):
            new = (kn * T[:-2, 1:-1] + ks * T[2:, 1:-1] + kw * T[1:-1, :-2] + ke * T[1:-1, 2:] + self.q[1:-1, 1:-1]) / (kn + ks + kw + ke)
            T = nn.functional.pad(new, (1, 1, 1, 1))      # outside is at 0
        return T

    def forward(self):
        return self.solve(self.apply_walls())


def roughness(k):
    inner = k[1:-1, 1:-1]
    return ((inner[1:] - inner[:-1]) ** 2).sum() + ((inner[:, 1:] - inner[:, :-1]) ** 2).sum()


def measure(cfg):
    truth = Plate(cfg)
    with torch.no_grad():
        truth.k[4:8, 3:7] = 2.5
        T = truth()
    sensors = torch.randint(1, cfg.n - 1, (14, 2))
    return sensors, T[sensors[:, 0], sensors[:, 1]] + 0.01 * torch.randn(14)


def main():
    p = argparse.ArgumentParser()
    for f in dataclasses.fields(Config):
        p.add_argument('--' + f.name, type=f.type, default=f.default)
    cfg = Config(**vars(p.parse_args()))
    torch.manual_seed(cfg.seed)
    sensors, y = measure(cfg)
    plate = Plate(cfg)
    opt = torch.optim.Adam(plate.parameters(), lr=cfg.lr)
    for s in range(cfg.steps):
        opt.zero_grad()
        T = plate()
        misfit = ((T[sensors[:, 0], sensors[:, 1]] - y) ** 2).mean()
        loss = misfit + cfg.smooth * roughness(plate.k)
        loss.backward()
        opt.step()
        print('step %d misfit %.6f k inside %.6f' % (s, misfit.item(), plate.k[1:-1, 1:-1].mean().item()))


if __name__ == '__main__':
    main()
