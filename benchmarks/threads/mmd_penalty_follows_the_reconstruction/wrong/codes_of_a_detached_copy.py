# -*- coding: utf-8 -*-
# WAE-MMD の小さな実験（2次元の渦巻きデータ）
import argparse
import itertools
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

ap = argparse.ArgumentParser(description='wasserstein auto-encoder')
ap.add_argument('-batch_size', type=int, default=40)
ap.add_argument('-epochs', type=int, default=5)
ap.add_argument('-lr', type=float, default=0.004)
ap.add_argument('-dim_h', type=int, default=32)
ap.add_argument('-n_z', type=int, default=3)
ap.add_argument('-LAMBDA', type=float, default=8.0, help='MMD の重み')
ap.add_argument('-sigma', type=float, default=1.0)
args = ap.parse_args()

torch.manual_seed(123)


def spiral(n):
    """渦巻き＋無関係な次元"""
    t = torch.rand(n) * 3 * math.pi
    xy = torch.stack([t * torch.cos(t), t * torch.sin(t)], 1) / 6
    extra = torch.sin(xy @ torch.randn(2, 6))
    return torch.cat([xy, extra], 1) + 0.02 * torch.randn(n, 8)


class Encoder(nn.Module):
    def __init__(self, args):
        super(Encoder, self).__init__()
        self.main = nn.Sequential(
            nn.Linear(8, args.dim_h), nn.ReLU(True),
            nn.Linear(args.dim_h, args.dim_h), nn.ReLU(True))
        self.fc = nn.Linear(args.dim_h, args.n_z)

    def forward(self, x):
        return self.fc(self.main(x))


class Decoder(nn.Module):
    def __init__(self, args):
        super(Decoder, self).__init__()
        self.main = nn.Sequential(
            nn.Linear(args.n_z, args.dim_h), nn.ReLU(True),
            nn.Linear(args.dim_h, args.dim_h), nn.ReLU(True),
            nn.Linear(args.dim_h, 8))

    def forward(self, z):
        return self.main(z)


def imq_kernel(X, Y, h_dim):
    # 逆マルチ二次カーネル
    n = X.size(0)
    dist = lambda a, b: (a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(-1)
    stats = 0.
    for scale in (.1, .2, .5, 1., 2., 5.):
        C = 2 * h_dim * args.sigma ** 2 * scale
        same = C / (C + dist(X, X)) + C / (C + dist(Y, Y))
        same = (1 - torch.eye(n)) * same
        stats = stats + same.sum() / (n - 1) - 2 * (C / (C + dist(X, Y))).sum() / n
    return stats


encoder, decoder = Encoder(args), Decoder(args)
enc_optim = torch.optim.Adam(encoder.parameters(), lr=args.lr)
dec_optim = torch.optim.Adam(decoder.parameters(), lr=args.lr)
enc_sched = torch.optim.lr_scheduler.StepLR(enc_optim, step_size=3, gamma=0.5)
dec_sched = torch.optim.lr_scheduler.StepLR(dec_optim, step_size=3, gamma=0.5)

data = spiral(160)

for epoch in range(args.epochs):
    meter = {'recon': 0., 'mmd': 0.}
    order = torch.randperm(len(data))
    for idx in order.split(args.batch_size):
        images = data[idx]
        enc_optim.zero_grad(); dec_optim.zero_grad()

        # ----- 再構成 -----
        z = encoder(images)
        x_recon = decoder(z.detach())
        recon_loss = F.mse_loss(x_recon, images)
        recon_loss.backward()

        # ----- 潜在分布を事前分布に近づける -----
        z_fake = torch.randn(len(images), args.n_z) * args.sigma
        mmd_loss = args.LAMBDA * imq_kernel(z, z_fake, h_dim=args.n_z) / len(images)
        mmd_loss.backward()

        enc_optim.step(); dec_optim.step()
        meter['recon'] += recon_loss.item()
        meter['mmd'] += mmd_loss.item()
    enc_sched.step()
    dec_sched.step()
    print('Epoch: [%d/%d]' % (epoch + 1, args.epochs), *['%s: %.6f' % (k, v / 4) for k, v in meter.items()])

with torch.no_grad():
    z = encoder(data)
    print('z mean %.5f std %.5f' % (z.mean().item(), z.std().item()))
