"""Progressive GAN on tiny glyph images: train at 8x8, grow to 16x16, fade the new block in, stabilise."""
import os
import tempfile
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from data import GlyphSampler
from networks import Critic, Generator


@dataclass
class Config:
    z_dim: int = 12
    width: int = 8
    batch: int = 16
    base_iters: int = 8
    fade_iters: int = 10
    stable_iters: int = 6
    lr: float = 2e-3
    drift: float = 1e-3
    log_every: int = 4
    seed: int = 21


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.G = Generator(cfg.z_dim, cfg.width)
        self.D = Critic(cfg.width)
        self.sampler = GlyphSampler(16, seed=cfg.seed)
        self.new_optimizers()
        self.it = 0

    def new_optimizers(self):
        cfg = self.cfg
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=cfg.lr, betas=(0.0, 0.99))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=cfg.lr, betas=(0.0, 0.99))

    def real(self):
        x = self.sampler.batch(self.cfg.batch)
        if self.G.level == 0:
            return F.avg_pool2d(x, 2)
        a = float(self.G.alpha)
        if a < 1:
            low = F.interpolate(F.avg_pool2d(x, 2), scale_factor=2)
            x = a * x + (1 - a) * low
        return x

    def step(self):
        cfg = self.cfg
        real = self.real()
        z = torch.randn(cfg.batch, cfg.z_dim)

        d_real = self.D(real)
        d_fake = self.D(self.G(z).detach())
        d_loss = F.softplus(-d_real).mean() + F.softplus(d_fake).mean() + cfg.drift * d_real.pow(2).mean()
        self.opt_d.zero_grad()
        d_loss.backward()
        self.opt_d.step()

        g_loss = F.softplus(-self.D(self.G(torch.randn(cfg.batch, cfg.z_dim)))).mean()
        self.opt_g.zero_grad()
        g_loss.backward()
        self.opt_g.step()
        return d_loss.item(), g_loss.item()

    def run(self, iters, phase, fade=False):
        for i in range(iters):
            if fade:
                # both networks in lockstep, linear from 0 to 1
                self.G.fade(1.0 / self.cfg.fade_iters)
                self.D.fade(1.0 / self.cfg.fade_iters)
            d, g = self.step()
            self.it += 1
            if i % self.cfg.log_every == 0 or i == iters - 1:
                print(f"[{phase}] it {self.it:3d}  alpha {float(self.G.alpha):.4f}/{float(self.D.alpha):.4f}"
                      f"  D {d:.6f}  G {g:.6f}")

    def train(self):
        cfg = self.cfg
        self.run(cfg.base_iters, "8x8")
        self.G.grow()
        self.D.grow()
        self.new_optimizers()
        self.run(cfg.fade_iters, "fade", fade=True)
        self.run(cfg.stable_iters, "16x16")

    def save(self, folder):
        path = os.path.join(folder, "progan.pt")
        torch.save({"G": self.G.state_dict(), "D": self.D.state_dict(), "level": self.G.level}, path)
        return path


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(cfg.seed)
    trainer = Trainer(cfg)
    trainer.train()
    with tempfile.TemporaryDirectory() as tmp:
        state = torch.load(trainer.save(tmp))
        print("alpha in the checkpoint %.4f" % float(state["G"]["alpha"]))
    with torch.no_grad():
        trainer.G.eval()
        sample = trainer.G(torch.randn(32, cfg.z_dim))
    print("samples mean %.6f std %.6f" % (sample.mean().item(), sample.std().item()))
