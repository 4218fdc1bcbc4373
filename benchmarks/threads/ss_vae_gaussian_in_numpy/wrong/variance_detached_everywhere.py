# 半监督 VAE (M2)：有标签 + 无标签数据
import math
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
import argparse


def log_standard_gaussian(x):
    return torch.sum(-0.5 * math.log(2 * math.pi) - x ** 2 / 2, dim=1)


def log_gaussian(x, mu, var):
    """对角高斯的对数密度"""
    return torch.sum(torch.from_numpy(-0.5 * np.log(2 * np.pi * var.numpy())) - (x - mu) ** 2 / (2 * var), dim=1)


def log_bernoulli(x, p, eps=1e-6):
    return torch.sum(x * torch.log(p + eps) + (1 - x) * torch.log(1 - p + eps), dim=1)


class Classifier(nn.Module):
    def __init__(self, x_dim, h_dim, y_dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(x_dim, h_dim), nn.Softplus(), nn.Linear(h_dim, y_dim))

    def forward(self, x):
        return F.softmax(self.net(x), dim=1)


class Encoder(nn.Module):
    def __init__(self, x_dim, y_dim, h_dim, z_dim):
        super().__init__()
        self.hidden = nn.Linear(x_dim + y_dim, h_dim)
        self.mu, self.log_var = nn.Linear(h_dim, z_dim), nn.Linear(h_dim, z_dim)

    def forward(self, x, y):
        h = F.softplus(self.hidden(torch.cat([x, y], 1)))
        mu, var = self.mu(h), self.log_var(h).exp()
        z = mu + torch.sqrt(var) * torch.randn_like(mu)
        return z, mu, var


class Decoder(nn.Module):
    def __init__(self, z_dim, y_dim, h_dim, x_dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(z_dim + y_dim, h_dim), nn.Softplus(), nn.Linear(h_dim, x_dim), nn.Sigmoid())

    def forward(self, z, y):
        return self.net(torch.cat([z, y], 1))


class SSVAE(nn.Module):
    def __init__(self, x_dim=16, y_dim=3, z_dim=4, h_dim=20):
        super().__init__()
        self.y_dim = y_dim
        self.classifier = Classifier(x_dim, h_dim, y_dim)
        self.encoder, self.decoder = Encoder(x_dim, y_dim, h_dim, z_dim), Decoder(z_dim, y_dim, h_dim, x_dim)

    def L(self, x, y):
        """-L(x, y) 的单样本估计"""
        z, z_mu, z_var = self.encoder(x, y)
        log_p_x = log_bernoulli(x, self.decoder(z, y))
        log_p_z = log_standard_gaussian(z)
        log_q_z = log_gaussian(z, z_mu, z_var.detach())
        return log_p_x + math.log(1 / self.y_dim) + log_p_z - log_q_z

    def U(self, x):
        q_y = self.classifier(x)
        total = 0
        for k in range(self.y_dim):
            y = F.one_hot(torch.full((len(x),), k), self.y_dim).float()
            total = total + q_y[:, k] * self.L(x, y)
        return total - torch.sum(q_y * torch.log(q_y + 1e-8), 1)


def toy(n, rng):
    proto = (rng.rand(3, 16) > 0.5).astype(np.float32)
    y = rng.randint(0, 3, n)
    flip = rng.rand(n, 16) < 0.1
    return torch.from_numpy(np.abs(proto[y] - flip).astype(np.float32)), torch.from_numpy(y)


def train(args):
    torch.manual_seed(args.seed)
    x, y = toy(60, np.random.RandomState(args.seed))
    model = SSVAE()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        lab, unl = torch.arange(12), torch.randperm(48)[:24] + 12
        onehot = F.one_hot(y[lab], 3).float()
        L, U = -model.L(x[lab], onehot).mean(), -model.U(x[unl]).mean()
        cls = F.nll_loss(torch.log(model.classifier(x[lab]) + 1e-8), y[lab])
        loss = L + U + args.alpha * cls
        opt.zero_grad()
        loss.backward()
        opt.step()
        acc = (model.classifier(x[12:]).argmax(1) == y[12:]).float().mean()
        print('epoch %d L %.6f U %.6f acc %.4f' % (epoch, L.item(), U.item(), acc.item()))


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--epochs', type=int, default=6)
    p.add_argument('--lr', type=float, default=0.01)
    p.add_argument('--alpha', type=float, default=1.2)
    p.add_argument('--seed', type=int, default=1)
    train(p.parse_args())
