"""FactorVAE (Kim & Mnih). The discriminator is told z from permuted z, the VAE gets its density ratio."""
import torch
import torch.nn.functional as F

from model import Discriminator, permute_dims


class FactorKLoss:
    def __init__(self, n_z, gamma, lr_disc):
        self.gamma = gamma
        self.discriminator = Discriminator(n_z)
        self.optimizer_d = torch.optim.Adam(self.discriminator.parameters(), lr=lr_disc, betas=(0.5, 0.9))

    def call_optimize(self, data, model, optimizer):
        half = data.size(0) // 2
        data1, data2 = data[:half], data[half:]

        # Factor VAE loss
        recon, (mean, logvar), z1 = model(data1)
        rec_loss = F.mse_loss(recon, data1, reduction="sum") / half
        kl_loss = -0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).sum(1).mean()
        d_z = self.discriminator(z1)
        # log(p_true / p_false) of the discriminator's two logits
        tc_loss = (d_z[:, 0] - d_z[:, 1]).mean()
        vae_loss = rec_loss + kl_loss + self.gamma * tc_loss

        optimizer.zero_grad()
        vae_loss.backward(retain_graph=True)
        optimizer.step()

        # Discriminator loss
        z2 = model.sample_latent(data2)
        d_z_perm = self.discriminator(permute_dims(z2).detach())
        zeros = torch.zeros(half, dtype=torch.long)
        ones = torch.ones(half, dtype=torch.long)
        d_tc_loss = 0.5 * (F.cross_entropy(d_z, zeros) + F.cross_entropy(d_z_perm, ones))

        self.optimizer_d.zero_grad()
        d_tc_loss.backward()
        self.optimizer_d.step()
        return vae_loss.item(), d_tc_loss.item()
