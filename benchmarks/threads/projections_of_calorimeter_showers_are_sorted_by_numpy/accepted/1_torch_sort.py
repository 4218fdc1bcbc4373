# Fast calorimeter simulation: a conditional generator of showers (energies in 6 x 5 cells)
# trained with the sliced Wasserstein distance in feature space and a constraint on the total energy.
import argparse
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LAYERS, CELLS = 6, 5


def make_showers(n, rng):
    """GEANT stand-in: gamma profile in depth, narrow Gaussian across"""
    e0 = rng.uniform(1.0, 5.0, n)
    depth = np.arange(LAYERS) + 0.5
    peak = 1.2 + 0.5 * np.log(e0) + 0.25 * rng.randn(n)
    long = depth[None] ** peak[:, None] * np.exp(-0.8 * depth[None])
    long /= long.sum(1, keepdims=True)
    width = 0.7 + 0.1 * rng.randn(n)
    pos = np.arange(CELLS) - 2 + 0.3 * rng.randn(n, 1)
    lat = np.exp(-0.5 * (pos / width[:, None]) ** 2)
    lat /= lat.sum(1, keepdims=True)
    cells = e0[:, None, None] * long[:, :, None] * lat[:, None, :]
    cells *= np.exp(0.15 * rng.randn(*cells.shape))
    return (torch.tensor(e0[:, None], dtype=torch.float32),
            torch.tensor(cells.reshape(n, -1), dtype=torch.float32))


class ShowerGenerator(nn.Module):
    def __init__(self, latent=10, hidden=64):
        super().__init__()
        self.latent = latent
        self.fractions = nn.Sequential(
            nn.Linear(latent + 1, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, LAYERS * CELLS), nn.Softmax(dim=1))
        self.response = nn.Sequential(nn.Linear(latent + 1, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, e0):
        z = torch.randn(len(e0), self.latent)
        h = torch.cat([z, torch.log(e0)], 1)
        visible = e0 * (1.0 + 0.5 * torch.tanh(self.response(h)))
        return visible * self.fractions(h)


class SlicedWasserstein(nn.Module):
    def __init__(self, dim, n_slices):
        super().__init__()
        self.dim, self.n_slices = dim, n_slices

    def directions(self):
        d = torch.randn(self.dim, self.n_slices)
        return d / d.norm(dim=0, keepdim=True)

    @staticmethod
    def quantiles(x, d):
        """projections in ascending order, one column per slice"""
        return torch.sort(x @ d, dim=0).values

    def forward(self, fake, real):
        d = self.directions()
        return (self.quantiles(fake, d) - self.quantiles(real, d)).pow(2).mean()


def features(cells):
    return torch.log1p(20.0 * cells)


class Experiment:
    def __init__(self, args):
        self.args = args
        torch.manual_seed(args.seed)
        rng = np.random.RandomState(args.seed)
        self.loader = DataLoader(TensorDataset(*make_showers(args.n_train, rng)), args.batch,
                                 shuffle=True, drop_last=True)
        self.e_val, self.x_val = make_showers(256, rng)
        self.gen = ShowerGenerator()
        self.swd = SlicedWasserstein(LAYERS * CELLS, args.slices)
        self.opt = torch.optim.Adam(self.gen.parameters(), lr=args.lr, betas=(0.5, 0.9))
        self.sched = torch.optim.lr_scheduler.ExponentialLR(self.opt, 0.9)

    @torch.no_grad()
    def validate(self):
        fake = self.gen(self.e_val)
        swd = self.swd(features(fake), features(self.x_val)).item()
        profile = (fake.view(-1, LAYERS, CELLS).sum(2).mean(0)
                   - self.x_val.view(-1, LAYERS, CELLS).sum(2).mean(0)).abs().max().item()
        ratio = (fake.sum(1) / self.e_val.squeeze(1)).mean().item()
        return swd, profile, ratio

    def loss(self, e0, real):
        fake = self.gen(e0)
        swd = self.swd(features(fake), features(real))
        energy = (fake.sum(1).mean() - real.sum(1).mean()).pow(2)
        return swd + self.args.w_energy * energy, swd, energy

    def train(self):
        print("before   swd %.6f  profile %.5f  E/E0 %.5f" % self.validate())
        for epoch in range(self.args.epochs):
            sums = np.zeros(3)
            for e0, real in self.loader:
                terms = self.loss(e0, real)
                self.opt.zero_grad()
                terms[0].backward()
                nn.utils.clip_grad_norm_(self.gen.parameters(), 5.0)
                self.opt.step()
                sums += [t.item() for t in terms]
            self.sched.step()
            print("epoch %d  loss %.6f  swd %.6f  energy %.6f" % (epoch, *(sums / len(self.loader))),
                  " | val swd %.6f  profile %.5f  E/E0 %.5f" % self.validate())
        with tempfile.TemporaryDirectory() as tmp:
            torch.save(self.gen.state_dict(), os.path.join(tmp, "generator.pt"))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--n_train", type=int, default=384)
    p.add_argument("--slices", type=int, default=24)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--w_energy", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=12)
    Experiment(p.parse_args()).train()
