import torch
import torch.nn.functional as F

from networks import Discriminator, Generator


class Trainer:
    """LSGAN on short sine waves."""

    def __init__(self, seq_len, z_dim=4, lr=2e-3):
        self.z_dim = z_dim
        self.G = Generator(z_dim, seq_len)
        self.D = Discriminator(seq_len)
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=lr, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=lr, betas=(0.5, 0.999))

    def compute_losses(self, real):
        z = torch.randn(real.size(0), self.z_dim)
        fake = self.G(z)
        real_score = self.D(real)
        fake_score = self.D(fake.detach())
        loss_d = 0.5 * F.mse_loss(real_score, torch.ones_like(real_score))
        loss_d = loss_d + 0.5 * F.mse_loss(fake_score, torch.zeros_like(fake_score))
        gen_score = self.D(fake)
        loss_g = 0.5 * F.mse_loss(gen_score, torch.ones_like(gen_score))
        return loss_d, loss_g

    def train_step(self, real):
        loss_d, loss_g = self.compute_losses(real)

        self.opt_d.zero_grad()
        loss_d.backward()
        self.D.zero_grad()
        self.opt_g.zero_grad()
        loss_g.backward()
        self.opt_d.step()
        self.opt_g.step()
        return loss_d.item(), loss_g.item()
