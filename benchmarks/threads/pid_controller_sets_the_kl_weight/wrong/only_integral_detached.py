# VAE whose KL weight is set by a PI controller so that KL settles at a target (in nats)
import argparse
import math

import torch
from torch import nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument('--target-kl', type=float, default=0.3)
parser.add_argument('--kp', type=float, default=0.4)
parser.add_argument('--ki', type=float, default=0.2)
parser.add_argument('--iters', type=int, default=16)
parser.add_argument('--lr', type=float, default=5e-3)
args = parser.parse_args()


class PIController:
    """beta(t) = Kp / (1 + exp(e(t))) - Ki * sum_j e(j) + beta_min,   e = target - KL"""

    def __init__(self, kp, ki, beta_min=0.0, beta_max=1.0):
        self.kp, self.ki = kp, ki
        self.beta_min, self.beta_max = beta_min, beta_max
        self.integral = torch.zeros(())
        self.saturated = False

    def step(self, target, kl):
        error = target - kl
        p_term = self.kp * torch.sigmoid(-error)
        if not self.saturated:                      # anti-windup
            self.integral = (self.integral - self.ki * error).detach()
        raw = p_term + self.integral + self.beta_min
        self.saturated = bool(raw < self.beta_min) or bool(raw > self.beta_max)
        return raw.clamp(self.beta_min, self.beta_max)


class VAE(nn.Module):
    def __init__(self, d=12, h=24, z=3):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.Tanh(), nn.Linear(h, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, h), nn.Tanh(), nn.Linear(h, d))

    def forward(self, x, eps):
        mu, logvar = self.enc(x).chunk(2, dim=-1)
        z = mu + eps * torch.exp(0.5 * logvar)
        kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).sum(-1).mean()
        return self.dec(z), kl


def main():
    torch.manual_seed(3)
    basis = torch.randn(3, 12)
    data = torch.randn(256, 3) @ basis + 0.1 * torch.randn(256, 12)
    net = VAE()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    controller = PIController(args.kp, args.ki)
    for it in range(args.iters):
        idx = torch.randint(0, 256, (64,))
        eps = torch.randn(64, 3)
        recon, kl = net(data[idx], eps)
        rec = F.mse_loss(recon, data[idx], reduction='sum') / 64
        beta = controller.step(args.target_kl, kl)
        loss = rec + beta * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 4 == 3:
            print(f'{it} rec {rec.item():.4f} kl {kl.item():.4f} beta {float(beta):.5f}')
    print('integral %.5f' % float(controller.integral))


if __name__ == '__main__':
    main()
