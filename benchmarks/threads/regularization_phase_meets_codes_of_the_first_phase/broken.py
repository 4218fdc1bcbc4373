#!/usr/bin/env python
# Adversarial autoencoder (Makhzani et al. 2015): reconstruction phase, then regularization phase
import argparse
import itertools
import math

import torch
import torch.nn as nn
from torch.optim import Adam

parser = argparse.ArgumentParser()
parser.add_argument('--n-epochs', type=int, default=2)
parser.add_argument('--batch-size', type=int, default=32)
parser.add_argument('--lr', type=float, default=1e-3, help='reconstruction phase')
parser.add_argument('--reg-lr', type=float, default=5e-4, help='regularization phase')
parser.add_argument('--latent-dim', type=int, default=2)
parser.add_argument('--modes', type=int, default=4)
opt = parser.parse_args()


def mlp(sizes, last=None):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1], *([last] if last else []))


class Encoder(nn.Module):
    """deterministic posterior, no reparameterization"""

    def __init__(self):
        super().__init__()
        self.net = mlp([16, 32, 32, opt.latent_dim])

    def forward(self, img):
        return self.net(img)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp([opt.latent_dim, 32, 32, 16], nn.Sigmoid())

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp([opt.latent_dim, 24, 1], nn.Sigmoid())

    def forward(self, z):
        return self.net(z)


def sample_prior(n):
    """ring of gaussians"""
    k = torch.randint(0, opt.modes, (n,)).float() * 2 * math.pi / opt.modes
    return torch.stack([k.cos(), k.sin()], 1) * 2 + 0.2 * torch.randn(n, 2)


class AAE:
    def __init__(self):
        self.encoder, self.decoder, self.discriminator = Encoder(), Decoder(), Discriminator()
        self.adversarial_loss = nn.BCELoss()
        self.pixelwise_loss = nn.MSELoss()
        self.optimizer_AE = Adam(itertools.chain(self.encoder.parameters(), self.decoder.parameters()), lr=opt.lr)
        self.optimizer_D = Adam(self.discriminator.parameters(), lr=opt.reg_lr, betas=(0.5, 0.999))
        # the encoder is the generator of the regularization phase
        self.optimizer_G = Adam(self.encoder.parameters(), lr=opt.reg_lr, betas=(0.5, 0.999))

    def train_batch(self, imgs):
        valid = torch.ones(imgs.size(0), 1)
        fake = torch.zeros(imgs.size(0), 1)

        # ------------------------
        #  Reconstruction phase
        # ------------------------
        encoded_imgs = self.encoder(imgs)
        r_loss = self.pixelwise_loss(self.decoder(encoded_imgs), imgs)
        self.optimizer_AE.zero_grad()
        r_loss.backward()
        self.optimizer_AE.step()

        # ------------------------
        #  Regularization phase
        # ------------------------
        # 1) discriminator: prior samples vs. codes
        z = sample_prior(imgs.size(0))
        self.optimizer_D.zero_grad()
        real_loss = self.adversarial_loss(self.discriminator(z), valid)
        fake_loss = self.adversarial_loss(self.discriminator(encoded_imgs.detach()), fake)
        d_loss = 0.5 * (real_loss + fake_loss)
        d_loss.backward()
        self.optimizer_D.step()

        # 2) generator: the codes have to fool it
        self.optimizer_G.zero_grad()
        g_loss = self.adversarial_loss(self.discriminator(encoded_imgs), valid)
        g_loss.backward()
        self.optimizer_G.step()
        return r_loss.item(), d_loss.item(), g_loss.item()


def make_dataset(n=256):
    """4 x 4 'digits': noisy versions of a few prototypes"""
    protos = (torch.rand(opt.modes, 16) > 0.5).float()
    x = protos[torch.randint(0, opt.modes, (n,))] + 0.15 * torch.randn(n, 16)
    return x.clamp(0, 1)


if __name__ == '__main__':
    torch.manual_seed(0)
    dataset = make_dataset()
    aae = AAE()
    for epoch in range(opt.n_epochs):
        for i, imgs in enumerate(dataset.split(opt.batch_size)):
            r, d, g = aae.train_batch(imgs)
        print('[Epoch %d/%d] [R loss: %.6f] [D loss: %.6f] [G loss: %.6f]' % (epoch, opt.n_epochs, r, d, g))
