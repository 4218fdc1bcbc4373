import argparse
import logging
import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

# Relativistic average GAN on eight Gaussians.
# A real sample should look more real than the AVERAGE fake one, and the other way round.

logger = logging.getLogger("ragan")
logger.addHandler(logging.StreamHandler(sys.stdout))
logger.setLevel(logging.INFO)


class Ring:
    def __init__(self, modes=8, radius=2.0, sigma=0.05):
        a = torch.arange(modes) * 2 * math.pi / modes
        self.centres = radius * torch.stack([a.cos(), a.sin()], 1)
        self.sigma = sigma

    def draw(self, n):
        k = torch.randint(len(self.centres), (n,))
        return self.centres[k] + self.sigma * torch.randn(n, 2)


class G(nn.Module):
    def __init__(self, nz, nh):
        super().__init__()
        self.m = nn.Sequential(nn.Linear(nz, nh), nn.LeakyReLU(.2), nn.Linear(nh, nh), nn.LeakyReLU(.2), nn.Linear(nh, 2))

    def forward(self, z):
        return self.m(z)


class C(nn.Module):
    """critic; bounded to [-s, s], otherwise the averages run away"""
    def __init__(self, nh, s=1.0):
        super().__init__()
        self.m = nn.Sequential(nn.Linear(2, nh), nn.LeakyReLU(.2), nn.Linear(nh, nh), nn.LeakyReLU(.2), nn.Linear(nh, 1))
        self.s = s

    def forward(self, x):
        return torch.tanh(self.m(x) / self.s).view(-1)


def relativistic(c_real, c_fake):
    """(real against the average fake, fake against the average real)"""
    c_real.data -= c_fake.data.mean()
    c_fake.data -= c_real.data.mean()
    return c_real, c_fake


def bce(logits, label):
    return F.binary_cross_entropy_with_logits(4 * logits, torch.full_like(logits, label))


class RaGAN(object):
    def __init__(self, opt):
        self.opt = opt
        self.data = Ring()
        self.g, self.c = G(opt.nz, opt.nh), C(opt.nh)
        kw = dict(lr=opt.lr, betas=(.5, .99))
        self.og = torch.optim.Adam(self.g.parameters(), **kw)
        self.oc = torch.optim.Adam(self.c.parameters(), **kw)

    def critic_step(self):
        real = self.data.draw(self.opt.bs)
        with torch.no_grad():
            fake = self.g(torch.randn(self.opt.bs, self.opt.nz))
        r, f = relativistic(self.c(real), self.c(fake))
        loss = bce(r, 1.) + bce(f, 0.)
        self.oc.zero_grad(); loss.backward(); self.oc.step()
        return loss.item()

    def generator_step(self):
        real = self.data.draw(self.opt.bs)
        fake = self.g(torch.randn(self.opt.bs, self.opt.nz))
        r, f = relativistic(self.c(real), self.c(fake))
        loss = bce(r, 0.) + bce(f, 1.)
        self.og.zero_grad(); loss.backward(); self.og.step()
        return loss.item()

    @torch.no_grad()
    def report(self, it, lc, lg):
        x = self.g(torch.randn(128, self.opt.nz))
        dist = torch.cdist(x, self.data.centres).min(1)[0].mean()
        logger.info("%d: critic %.6f generator %.6f distance to the nearest mode %.5f", it, lc, lg, dist)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--nz", type=int, default=4)
    ap.add_argument("--nh", type=int, default=32)
    ap.add_argument("--bs", type=int, default=48)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--iters", type=int, default=15)
    ap.add_argument("--n_critic", type=int, default=2)
    ap.add_argument("--seed", type=int, default=31)
    opt = ap.parse_args()
    torch.manual_seed(opt.seed)
    gan = RaGAN(opt)
    for it in range(opt.iters):
        for _ in range(opt.n_critic):
            lc = gan.critic_step()
        lg = gan.generator_step()
        if it % 5 == 4:
            gan.report(it, lc, lg)


if __name__ == "__main__":
    main()
