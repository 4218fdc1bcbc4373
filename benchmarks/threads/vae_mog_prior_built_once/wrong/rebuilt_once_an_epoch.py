# VAE with a learnable mixture-of-gaussians prior (MoG prior, "poor man's VampPrior").
# toy data: 3 blobs in 6 dimensions. KL is estimated with one sample.
import argparse
import math

import torch
from torch import nn, optim

parser = argparse.ArgumentParser()
parser.add_argument('--epochs', type=int, default=3)
parser.add_argument('--batch-size', type=int, default=32)
parser.add_argument('--latent', type=int, default=2)
parser.add_argument('--components', type=int, default=5)
parser.add_argument('--beta', type=float, default=0.5)
parser.add_argument('--prior-lr', type=float, default=2e-2)
parser.add_argument('--seed', type=int, default=11)
args = parser.parse_args()

LOG2PI = math.log(2 * math.pi)


def log_normal(z, mu, std):
    return -0.5 * (((z - mu) / std) ** 2 + 2 * torch.log(std) + LOG2PI)


class MoGPrior(nn.Module):
    """p(z) = sum_k pi_k N(z; mu_k, diag(std_k^2)), everything is learned together with the VAE."""

    def __init__(self, k, d):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(k, d))
        self.log_std = nn.Parameter(torch.zeros(k, d))
        self.logits = nn.Parameter(torch.zeros(k))
        # unconstrained -> constrained
        self.std = self.log_std.exp()
        self.log_pi = torch.log_softmax(self.logits, 0)

    def log_prob(self, z):
        lp = log_normal(z.unsqueeze(1), self.mu, self.std).sum(-1)
        return torch.logsumexp(lp + self.log_pi, dim=1)

    def sample(self, n):
        c = torch.multinomial(self.log_pi.exp(), n, replacement=True)
        return self.mu[c] + self.std[c] * torch.randn(n, self.mu.size(1))


class VAE(nn.Module):
    def __init__(self, x_dim=6, h=32, d=2, k=5):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(x_dim, h), nn.ReLU(), nn.Linear(h, 2 * d))
        self.dec = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, x_dim))
        self.prior = MoGPrior(k, d)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        std = torch.exp(0.5 * logvar)
        z = mu + std * torch.randn_like(std)
        kl = log_normal(z, mu, std).sum(1) - self.prior.log_prob(z)
        return self.dec(z), kl


def make_data(n=192):
    centers = 2 * torch.randn(3, 6)
    return centers[torch.arange(n) % 3] + 0.3 * torch.randn(n, 6)


def train_epoch(model, data, optimizer):
    perm = torch.randperm(len(data))
    model.prior.std = model.prior.log_std.exp()
    model.prior.log_pi = torch.log_softmax(model.prior.logits, 0)
    tot = 0.
    for i in range(0, len(data), args.batch_size):
        x = data[perm[i:i + args.batch_size]]
        rec, kl = model(x)
        loss = ((rec - x) ** 2).sum(1).mean() + args.beta * kl.mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        tot += loss.item() * len(x)
    return tot / len(data)


def main():
    torch.manual_seed(args.seed)
    data = make_data()
    model = VAE(d=args.latent, k=args.components)
    optimizer = optim.Adam([
        {'params': list(model.enc.parameters()) + list(model.dec.parameters()), 'lr': 3e-3},
        {'params': model.prior.parameters(), 'lr': args.prior_lr},
    ])
    for epoch in range(1, args.epochs + 1):
        print('epoch %d  loss %.5f' % (epoch, train_epoch(model, data, optimizer)))
    with torch.no_grad():
        s = model.dec(model.prior.sample(64))
    print('samples: mean %.5f  std %.5f' % (s.mean().item(), s.std().item()))
    print('smallest prior std %.5f' % model.prior.log_std.exp().min().item())


if __name__ == '__main__':
    main()
