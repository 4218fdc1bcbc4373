# VAE 위에 flow prior 를 같이 학습하는 스크립트
# (두 번째 단계에서 sampling 에만 쓰는 prior, VAE 자체는 N(0, I) KL 로 학습)
import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, n_in=10, n_z=4, hidden=16):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_in, hidden), nn.SiLU(), nn.Linear(hidden, 2 * n_z))
        self.dec = nn.Sequential(nn.Linear(n_z, hidden), nn.SiLU(), nn.Linear(hidden, n_in))

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        z = z.detach()
        return self.dec(z), z, mu, logvar


class AffineCoupling(nn.Module):
    def __init__(self, n_z, flip, hidden=12):
        super().__init__()
        self.flip, self.half = flip, n_z // 2
        self.net = nn.Sequential(nn.Linear(self.half, hidden), nn.Tanh(), nn.Linear(hidden, n_z))

    def forward(self, z):
        a, b = z[:, :self.half], z[:, self.half:]
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        s = torch.tanh(s)
        b = b * s.exp() + t
        return torch.cat((b, a) if self.flip else (a, b), dim=1), s.sum(1)


class FlowPrior(nn.Module):
    """log p(z), 나중에 sample() 은 역방향으로"""

    def __init__(self, n_z, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(AffineCoupling(n_z, i % 2 == 1) for i in range(depth))

    def log_prob(self, z):
        logdet = 0.0
        for layer in self.layers:
            z, ld = layer(z)
            logdet = logdet + ld
        return -0.5 * (z ** 2 + math.log(2 * math.pi)).sum(1) + logdet


class Trainer:
    def __init__(self, args):
        self.args = args
        self.vae, self.prior = VAE(n_z=args.n_z), FlowPrior(args.n_z)
        self.opt_vae = torch.optim.Adam(self.vae.parameters(), lr=args.lr)
        self.opt_prior = torch.optim.Adam(self.prior.parameters(), lr=args.lr_prior)

    def vae_loss(self, x, recon, mu, logvar):
        rec = F.mse_loss(recon, x, reduction="sum") / len(x)
        kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(1).mean()
        return rec + self.args.beta * kl

    def step(self, x):
        recon, z, mu, logvar = self.vae(x)
        loss_vae = self.vae_loss(x, recon, mu, logvar)
        # prior 는 현재 VAE 의 code 를 따라가기만 한다 (aggregate posterior)
        loss_prior = -self.prior.log_prob(z).mean()

        self.opt_vae.zero_grad()
        self.opt_prior.zero_grad()
        loss_vae.backward()
        loss_prior.backward()
        self.opt_vae.step()
        self.opt_prior.step()
        return loss_vae.item(), loss_prior.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n_z", type=int, default=4)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--lr_prior", type=float, default=5e-3)
    parser.add_argument("--beta", type=float, default=1.0)
    parser.add_argument("--iters", type=int, default=6)
    parser.add_argument("--ema", type=float, default=0.0)  # 사용 안 함
    args = parser.parse_args()
    torch.manual_seed(7)
    trainer = Trainer(args)
    basis = torch.randn(3, 10)
    for it in range(args.iters):
        x = torch.randn(16, 3) @ basis + 0.1 * torch.randn(16, 10)
        a, b = trainer.step(x)
        print(f"[{it}] vae {a:.6f} prior {b:.6f}")


if __name__ == "__main__":
    main()
