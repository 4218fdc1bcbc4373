"""
MMVAE on two toy "modalities" (curves and their spectra), DReG objective, learned Laplace/Normal posteriors.
Single-file version of the training script.
"""
import argparse
import math
from collections import defaultdict

import torch
import torch.distributions as dist
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description='Multi-Modal VAEs')
parser.add_argument('--obj', type=str, default='m_dreg', choices=['m_iwae', 'm_dreg'])
parser.add_argument('--K', type=int, default=8, help='number of particles')
parser.add_argument('--latent-dim', type=int, default=4)
parser.add_argument('--batch-size', type=int, default=32)
parser.add_argument('--epochs', type=int, default=4)
parser.add_argument('--lr', type=float, default=4e-3)
parser.add_argument('--seed', type=int, default=2)
args = parser.parse_args()
torch.manual_seed(args.seed)


# ---------------------------------------------------------------- data
def make_data(n):
    t = torch.linspace(0, 1, 16)
    f = torch.rand(n, 1) * 2 + 1
    phase = torch.rand(n, 1) * 2 * math.pi
    curves = torch.sin(2 * math.pi * f * t + phase) + 0.1 * torch.randn(n, 16)
    spectra = torch.fft.rfft(curves).abs() / 4 + 0.05 * torch.randn(n, 9)
    return curves, spectra


train_loader = DataLoader(TensorDataset(*make_data(320)), batch_size=args.batch_size, shuffle=True)
test_loader = DataLoader(TensorDataset(*make_data(96)), batch_size=args.batch_size)


# ---------------------------------------------------------------- model
class VAE(nn.Module):
    def __init__(self, data_dim, latent_dim, llik_scaling=1.0):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(data_dim, 32), nn.ReLU())
        self.fc_mu = nn.Linear(32, latent_dim)
        self.fc_lv = nn.Linear(32, latent_dim)
        self.dec = nn.Sequential(nn.Linear(latent_dim, 32), nn.ReLU(), nn.Linear(32, data_dim))
        self.llik_scaling = llik_scaling

    def encode(self, x):
        h = self.enc(x)
        return self.fc_mu(h), torch.exp(0.5 * self.fc_lv(h)) + 1e-3

    def decode(self, z):
        return dist.Normal(self.dec(z), 0.3)


class MMVAE(nn.Module):
    def __init__(self, latent_dim):
        super().__init__()
        self.vaes = nn.ModuleList([VAE(16, latent_dim), VAE(9, latent_dim, llik_scaling=16 / 9)])
        self.pz_lv = nn.Parameter(torch.zeros(1, latent_dim))

    def pz(self):
        return dist.Normal(0., torch.exp(0.5 * self.pz_lv))

    def forward(self, x, K):
        qz_xs, zss, px_zs = [], [], [[None] * len(self.vaes) for _ in self.vaes]
        for vae, x_m in zip(self.vaes, x):
            qz_x = dist.Normal(*vae.encode(x_m))
            qz_xs.append(qz_x)
            zss.append(qz_x.rsample(torch.Size([K])))
        for e, zs in enumerate(zss):
            for d, vae in enumerate(self.vaes):
                px_zs[e][d] = vae.decode(zs)
        return qz_xs, px_zs, zss


# ---------------------------------------------------------------- objectives
def log_mean_exp(value, dim=0):
    return torch.logsumexp(value, dim) - math.log(value.size(dim))


def log_weights(model, x, qz_xs, px_zs, zss):
    lws = []
    for r, zs in enumerate(zss):
        lpz = model.pz().log_prob(zs).sum(-1)
        lqz_x = log_mean_exp(torch.stack([q.log_prob(zs).sum(-1) for q in qz_xs]))
        lpx_z = sum(px.log_prob(x[d]).sum(-1) * model.vaes[d].llik_scaling for d, px in enumerate(px_zs[r]))
        lws.append(lpz + lpx_z - lqz_x)
    return torch.stack(lws)


def m_iwae(model, x, K):
    qz_xs, px_zs, zss = model(x, K)
    lw = log_weights(model, x, qz_xs, px_zs, zss)
    return log_mean_exp(lw, dim=1).mean(0).sum()


def m_dreg(model, x, K):
    """doubly reparameterised: q is evaluated with stopped parameters, z receives the gradient times its weight"""
    qz_xs, px_zs, zss = model(x, K)
    qz_xs_ = [dist.Normal(q.loc.detach(), q.scale.detach()) for q in qz_xs]
    lw = log_weights(model, x, qz_xs_, px_zs, zss)
    with torch.no_grad():
        grad_wt = (lw - torch.logsumexp(lw, 1, keepdim=True)).exp()
    for wt, zs in zip(grad_wt, zss):
        zs.register_hook(lambda grad, wt=wt: wt.unsqueeze(-1) * grad)
    return (grad_wt * lw).mean(0).sum()


objective = {'m_iwae': m_iwae, 'm_dreg': m_dreg}[args.obj]
model = MMVAE(args.latent_dim)
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, amsgrad=True)


def train(epoch, agg):
    model.train()
    b_loss = 0
    for data in train_loader:
        optimizer.zero_grad()
        loss = -objective(model, data, K=args.K) / len(data[0])
        loss.backward()
        optimizer.step()
        b_loss += loss.item()
    agg['train_loss'].append(b_loss / len(train_loader))
    print('====> Epoch: {:03d} Train loss: {:.6f}'.format(epoch, agg['train_loss'][-1]))


def test(epoch, agg):
    model.eval()
    b_loss = 0
    with torch.no_grad():
        for data in test_loader:
            b_loss += -objective(model, data, K=args.K).item() / len(data[0])
    agg['test_loss'].append(b_loss / len(test_loader))
    print('====>             Test loss:  {:.6f}'.format(agg['test_loss'][-1]))


if __name__ == '__main__':
    agg = defaultdict(list)
    for epoch in range(1, args.epochs + 1):
        train(epoch, agg)
        test(epoch, agg)
