import argparse
import itertools

import torch
import torch.nn.functional as F

from ema import GeneratorEMA
from nets import GlobalD, PatchD, Up


def hinge_d(real, fake):
    return F.relu(1 - real).mean() + F.relu(1 + fake).mean()


class Trainer:
    def __init__(self, args):
        self.args = args
        self.G = Up(args.nz)
        self.Ds = [PatchD(), GlobalD()]
        self.ema = GeneratorEMA(self.G, args.ema_decay)
        self.optG = torch.optim.Adam(self.G.parameters(), lr=args.lr_g, betas=(0., 0.9))
        self.optD = torch.optim.Adam(itertools.chain(*[d.parameters() for d in self.Ds]), lr=args.lr_d, betas=(0., 0.9))
        self.fixed_z = torch.randn(6, args.nz)

    def d_step(self, real):
        with torch.no_grad():
            fake = self.G(torch.randn(real.size(0), self.args.nz))
        loss = sum(hinge_d(d(real), d(fake)) for d in self.Ds)
        self.optD.zero_grad()
        loss.backward()
        self.optD.step()
        return loss.item()

    def g_step(self, n):
        fake = self.G(torch.randn(n, self.args.nz))
        loss = -sum(d(fake).mean() for d in self.Ds)
        self.optG.zero_grad()
        loss.backward()
        self.optG.step()
        self.ema.update(self.G)
        return loss.item()

    @torch.no_grad()
    def sample(self):
        img = self.ema(self.fixed_z)
        return img.mean().item(), img.std().item()


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--nz', type=int, default=8)
    ap.add_argument('--lr-g', type=float, default=2e-3)
    ap.add_argument('--lr-d', type=float, default=4e-3)
    ap.add_argument('--ema-decay', type=float, default=0.995)
    ap.add_argument('--iters', type=int, default=6)
    args = ap.parse_args()
    torch.manual_seed(99)
    tr = Trainer(args)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 8), torch.linspace(-1, 1, 8), indexing='ij')
    for it in range(args.iters):
        c = torch.rand(8, 1, 1, 2) - 0.5
        real = torch.exp(-8 * ((xx - c[..., 0]) ** 2 + (yy - c[..., 1]) ** 2)).unsqueeze(1) * 2 - 1
        d = tr.d_step(real)
        g = tr.g_step(8)
        print('it %02d  d %.5f  g %.5f  ema sample %.5f +- %.5f' % ((it, d, g) + tr.sample()))
