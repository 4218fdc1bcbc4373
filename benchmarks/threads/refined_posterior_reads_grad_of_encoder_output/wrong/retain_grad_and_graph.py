#!/usr/bin/env python3
"""VAE with refined inference: the encoder's guess is improved by a few SVI steps (cf. Kim et al. 2018, Hjelm et al. 2016).

decoder: trained at the refined posterior
encoder: trained to predict the refined posterior, which is a plain regression target
"""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, d, z, h=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, 2 * z))

    def forward(self, x):
        mu, logvar = self.net(x).chunk(2, 1)
        return mu, logvar


class Decoder(nn.Module):
    def __init__(self, d, z, h=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(z, h), nn.Tanh(), nn.Linear(h, d))

    def forward(self, z):
        return self.net(z)


class RefinedVAE:
    def __init__(self, args):
        self.args = args
        self.encoder = Encoder(args.d, args.z)
        self.decoder = Decoder(args.d, args.z)
        self.opt = torch.optim.Adam(list(self.encoder.parameters()) + list(self.decoder.parameters()), lr=args.lr)

    def neg_elbo(self, x, mu, logvar):
        z = mu + (0.5 * logvar).exp() * torch.randn_like(mu)
        rec = F.mse_loss(self.decoder(z), x, reduction="none").sum(1) / (2 * self.args.sigma ** 2)
        kl = 0.5 * (mu ** 2 + logvar.exp() - 1 - logvar).sum(1)
        return (rec + kl).sum()

    def refine(self, x, mu, logvar):
        """svi_steps gradient steps on the variational parameters of this batch"""
        lr = self.args.svi_lr
        for _ in range(self.args.svi_steps):
            mu.retain_grad()
            logvar.retain_grad()
            loss = self.neg_elbo(x, mu, logvar)
            loss.backward(retain_graph=True)
            mu = mu - lr * mu.grad
            logvar = logvar - lr * logvar.grad
        return mu, logvar

    def train_step(self, x):
        mu, logvar = self.encoder(x)
        mu_k, logvar_k = self.refine(x, mu, logvar)

        self.opt.zero_grad()
        dec_loss = self.neg_elbo(x, mu_k, logvar_k) / x.size(0)
        enc_loss = F.mse_loss(mu, mu_k) + F.mse_loss(logvar, logvar_k)
        (dec_loss + self.args.beta * enc_loss).backward()
        self.opt.step()
        return dec_loss.item(), enc_loss.item()


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--d", type=int, default=12)
    p.add_argument("--z", type=int, default=3)
    p.add_argument("--sigma", type=float, default=0.7)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--svi_steps", type=int, default=3)
    p.add_argument("--svi_lr", type=float, default=0.05)
    p.add_argument("--beta", type=float, default=10.0)
    p.add_argument("--steps", type=int, default=8)
    p.add_argument("--gpu", type=int, default=-1)   # not used any more
    return p.parse_args()


def main():
    args = get_args()
    torch.manual_seed(3435)
    factors = torch.randn(args.z, args.d)
    vae = RefinedVAE(args)
    for i in range(args.steps):
        x = torch.tanh(torch.randn(24, args.z) @ factors) + 0.1 * torch.randn(24, args.d)
        d, e = vae.train_step(x)
        if (i + 1) % 2 == 0:
            print("step %d | -elbo %.5f | amortisation gap %.6f" % (i + 1, d, e))


if __name__ == "__main__":
    main()
