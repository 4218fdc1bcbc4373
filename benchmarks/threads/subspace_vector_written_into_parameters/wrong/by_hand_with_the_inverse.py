"""Measuring the intrinsic dimension (Li et al. 2018): train in a random d-dimensional subspace of the weights.
    theta = theta_0 + E @ v          only v is learnt
"""
import argparse
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def lenet_like(n_in, hidden, n_out):
    return nn.Sequential(nn.Linear(n_in, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, n_out))


class SubspaceModel(nn.Module):
    """
    Wraps a model in order to train it in a subspace
    """

    def __init__(self, model, E):
        super(SubspaceModel, self).__init__()
        self.model = model
        self.register_buffer("E", E)
        self.register_buffer("params_0", parameters_to_vector(model.parameters()).detach())
        self.params_d = nn.Parameter(torch.zeros(E.shape[1]))

    def forward(self, x):
        params_D = self.E @ self.params_d + self.params_0
        vector_to_parameters(params_D, self.model.parameters())
        return self.model(x)


def random_embedding(D, d):
    E = torch.randn(D, d)
    return E / E.norm(dim=0, keepdim=True)


@dataclass
class Meter:
    values: list = field(default_factory=list)

    def add(self, v):
        self.values.append(v)

    def mean(self):
        return sum(self.values) / max(len(self.values), 1)


def train(net, x, y, args):
    optimizer = torch.optim.Adam([net.params_d], lr=args.lr)
    for epoch in range(args.epochs):
        loss_meter, grad_meter = Meter(), Meter()
        for xb, yb in zip(x.split(args.batch), y.split(args.batch)):
            net.zero_grad()
            loss = F.cross_entropy(net(xb), yb)
            loss.backward()
            flat = torch.cat([p.grad.reshape(-1) for p in net.model.parameters()])
            net.params_d.grad = torch.linalg.pinv(net.E) @ flat
            # d is small, so the plain norm is fine
            grad_meter.add(net.params_d.grad.norm().item())
            optimizer.step()
            loss_meter.add(loss.item())
        print("d=%d epoch %d loss %.6f |g| %.6f" % (net.params_d.numel(), epoch, loss_meter.mean(), grad_meter.mean()))
    return net


def accuracy(net, x, y):
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dims", type=int, nargs="+", default=[6, 20])
    parser.add_argument("--hidden", type=int, default=12)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=30)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=9)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    centres = torch.randn(3, 8)
    y = torch.randint(0, 3, (90,))
    x = centres[y] + 0.7 * torch.randn(90, 8)
    for d in args.dims:
        model = lenet_like(8, args.hidden, 3)
        D = sum(p.numel() for p in model.parameters())
        net = train(SubspaceModel(model, random_embedding(D, d)), x, y, args)
        print("d=%d accuracy %.4f" % (d, accuracy(net, x, y)))


if __name__ == "__main__":
    main()
