"""Variational continual learning on three small permuted tasks (mean-field Gaussian weights)."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
TASKS, STEPS, BATCH, DIM, CLASSES = 3, 12, 32, 12, 4


class BayesLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(n_out, n_in) / math.sqrt(n_in))
        self.rho = nn.Parameter(torch.full((n_out, n_in), -4.0))
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.prior_mu = torch.zeros(n_out, n_in)
        self.prior_sigma = torch.full((n_out, n_in), 0.5)

    def sigma(self):
        return F.softplus(self.rho)

    def forward(self, x):
        w = self.mu + self.sigma() * torch.randn_like(self.mu)
        return F.linear(x, w, self.bias)

    def kl(self):
        s, p = self.sigma(), self.prior_sigma
        return (torch.log(p / s) + (s**2 + (self.mu - self.prior_mu) ** 2) / (2 * p**2) - 0.5).sum()

    def posterior_to_prior(self):
        self.prior_mu = self.mu.detach().clone()
        self.prior_sigma = self.sigma().detach()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = BayesLinear(DIM, 24)
        self.l2 = BayesLinear(24, CLASSES)

    def forward(self, x):
        return self.l2(torch.relu(self.l1(x)))

    def kl(self):
        return self.l1.kl() + self.l2.kl()

    def end_of_task(self):
        for layer in (self.l1, self.l2):
            layer.posterior_to_prior()


def make_task(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(STEPS * BATCH, DIM, generator=g)
    w = torch.randn(DIM, CLASSES, generator=torch.Generator().manual_seed(99))
    y = (x @ w).argmax(1)
    return x[:, torch.randperm(DIM, generator=g)], y


def distance_to_prior(net):
    with torch.no_grad():
        return sum(((l.mu - l.prior_mu) ** 2).sum() for l in (net.l1, net.l2)).sqrt().item()


def accuracy(net, data):
    with torch.no_grad():
        x, y = data
        out = sum(net(x).softmax(1) for _ in range(5))
        return (out.argmax(1) == y).float().mean().item()


def main():
    net = Net()
    tasks = [make_task(10 + t) for t in range(TASKS)]
    for t, (x, y) in enumerate(tasks):
        opt = torch.optim.Adam(net.parameters(), lr=1e-2)
        for i in range(STEPS):
            xb, yb = x[i * BATCH : (i + 1) * BATCH], y[i * BATCH : (i + 1) * BATCH]
            nll = F.cross_entropy(net(xb), yb)
            loss = nll + net.kl() / len(x)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"task {t} nll {nll.item():.4f} moved away from the prior by {distance_to_prior(net):.4f}")
        net.end_of_task()
        print("  accuracies", " ".join(f"{accuracy(net, d):.3f}" for d in tasks[: t + 1]))


if __name__ == "__main__":
    main()
