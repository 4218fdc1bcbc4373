# Variational Monte Carlo for two electrons in a harmonic trap (atomic units)
from dataclasses import dataclass
from typing import Tuple

import torch
from torch import nn


@dataclass
class Settings:
    n_walkers: int = 48
    n_elec: int = 2
    ndim: int = 3
    omega: float = 0.5
    step_size: float = 0.6
    n_moves: int = 3
    lr: float = 2e-2
    iterations: int = 7
    clip: float = 5.0
    seed: int = 12


class Jastrow(nn.Module):
    """exp(a r / (1 + b r)), with a small network on top."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(1.0))
        self.net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, r):
        b = nn.functional.softplus(self.weight)
        return (0.5 * r / (1 + b * r)).sum(-1) + 0.1 * self.net(r).squeeze(-1)


class WaveFunction(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.exponent = nn.Parameter(torch.tensor(0.35))
        self.jastrow = Jastrow()

    def distance(self, pos):
        x = pos.view(-1, self.cfg.n_elec, self.cfg.ndim)
        return (x[:, 0] - x[:, 1]).pow(2).sum(-1, keepdim=True).add(1e-6).sqrt()

    def log_psi(self, pos):
        return -0.5 * self.exponent * pos.pow(2).sum(-1) + self.jastrow(self.distance(pos))


class Metropolis:
    def __init__(self, cfg, generator):
        self.cfg, self.gen = cfg, generator
        self.walkers = torch.randn(cfg.n_walkers, cfg.n_elec * cfg.ndim, generator=generator)

    @torch.no_grad()
    def move(self, wf) -> float:
        accepted = 0.0
        for _ in range(self.cfg.n_moves):
            trial = self.walkers + self.cfg.step_size * torch.randn(self.walkers.shape, generator=self.gen)
            ratio = torch.exp(2 * (wf.log_psi(trial) - wf.log_psi(self.walkers)))
            accept = torch.rand(ratio.shape, generator=self.gen) < ratio
            self.walkers[accept] = trial[accept]
            accepted += accept.float().mean().item()
        return accepted / self.cfg.n_moves


class Hamiltonian:
    def __init__(self, cfg):
        self.cfg = cfg

    def kinetic(self, wf, pos):
        g, = torch.autograd.grad(wf.log_psi(pos).sum(), pos, create_graph=True)
        lap = 0.0
        for k in range(pos.shape[1]):
            lap = lap + torch.autograd.grad(g[:, k].sum(), pos, create_graph=True)[0][:, k]
        return -0.5 * (lap + g.pow(2).sum(-1))

    def potential(self, wf, pos):
        return 0.5 * self.cfg.omega ** 2 * pos.pow(2).sum(-1) + 1.0 / wf.distance(pos).squeeze(-1)

    def local_energy(self, wf, walkers):
        pos = walkers.detach().clone().requires_grad_()
        return self.kinetic(wf, pos) + self.potential(wf, pos)


class Solver:
    def __init__(self, cfg):
        self.cfg = cfg
        self.wf = WaveFunction(cfg)
        self.sampler = Metropolis(cfg, torch.Generator().manual_seed(cfg.seed))
        self.ham = Hamiltonian(cfg)
        self.opt = torch.optim.Adam(self.wf.parameters(), lr=cfg.lr)

    def energy_loss(self, eloc) -> torch.Tensor:
        """Mean of the clipped local energy (grad='auto')."""
        med = eloc.median().detach()
        mad = (eloc - med).abs().mean().detach()
        keep = (eloc - med).abs() < self.cfg.clip * mad
        return eloc[keep].mean()

    def run(self) -> Tuple[float, float]:
        for _ in range(10):
            self.sampler.move(self.wf)
        for it in range(self.cfg.iterations):
            eloc = self.ham.local_energy(self.wf, self.sampler.walkers)
            loss = self.energy_loss(eloc)
            rate = self.sampler.move(self.wf)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            print(f"iter {it}: E = {loss.item():.5f} +- {eloc.std().item():.5f}  acceptance {rate:.4f}")
        return loss.item(), eloc.var().item()


if __name__ == "__main__":
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    Solver(cfg).run()
