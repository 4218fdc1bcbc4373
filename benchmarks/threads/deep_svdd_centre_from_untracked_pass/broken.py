"""Deep SVDD on sensor readings: pull the normal ones to a point, flag what lands far away."""
import argparse

import numpy as np
import torch
from torch import nn


class SensorNet(nn.Module):
    """Bias-free, as the paper asks for."""

    def __init__(self, n_in, rep_dim):
        super().__init__()
        self.rep_dim = rep_dim
        self.layers = nn.Sequential(
            nn.Linear(n_in, 24, bias=False),
            nn.LeakyReLU(0.1),
            nn.Linear(24, 16, bias=False),
            nn.LeakyReLU(0.1),
            nn.Linear(16, rep_dim, bias=False),
        )

    def forward(self, x):
        return self.layers(x)


class DeepSVDDTrainer:
    def __init__(self, objective, nu, lr, weight_decay, n_epochs, warm_up_epochs):
        assert objective in ("one-class", "soft-boundary")
        self.objective = objective
        self.nu = nu
        self.lr = lr
        self.weight_decay = weight_decay
        self.n_epochs = n_epochs
        self.warm_up_epochs = warm_up_epochs
        self.R = torch.tensor(0.0)
        self.c = None

    def train(self, batches, net):
        optimizer = torch.optim.Adam(net.parameters(), lr=self.lr, weight_decay=self.weight_decay)
        if self.c is None:
            print("Initializing center c...")
            self.c = self.init_center_c(batches, net)

        net.train()
        for epoch in range(self.n_epochs):
            loss_epoch, n_batches = 0.0, 0
            for inputs in batches:
                optimizer.zero_grad()
                outputs = net(inputs)
                dist = torch.sum((outputs - self.c) ** 2, dim=1)
                if self.objective == "soft-boundary":
                    scores = dist - self.R ** 2
                    loss = self.R ** 2 + (1 / self.nu) * torch.mean(torch.max(torch.zeros_like(scores), scores))
                else:
                    loss = torch.mean(dist)
                loss.backward()
                optimizer.step()

                # Update hypersphere radius R on mini-batch distances
                if self.objective == "soft-boundary" and epoch >= self.warm_up_epochs:
                    self.R.data = torch.tensor(get_radius(dist, self.nu))
                loss_epoch += loss.item()
                n_batches += 1
            print("  Epoch {}/{}\t Loss: {:.6f}".format(epoch + 1, self.n_epochs, loss_epoch / n_batches))
        return net

    @torch.no_grad()
    def test(self, x, labels, net):
        net.eval()
        scores = torch.sum((net(x) - self.c) ** 2, dim=1)
        normal, strange = scores[labels == 0].mean().item(), scores[labels == 1].mean().item()
        print("normal {:.6f} anomalous {:.6f}".format(normal, strange))

    def init_center_c(self, batches, net, eps=0.1):
        """Initialize hypersphere center c as the mean from an initial forward pass on the data."""
        n_samples = 0
        c = torch.zeros(net.rep_dim)

        net.eval()
        for inputs in batches:
            outputs = net(inputs)
            n_samples += outputs.shape[0]
            c += torch.sum(outputs, dim=0)

        c /= n_samples

        # If c_i is too close to 0, set to +-eps. Reason: a zero unit can be trivially matched with zero weights.
        c[(abs(c) < eps) & (c < 0)] = -eps
        c[(abs(c) < eps) & (c > 0)] = eps

        return c


def get_radius(dist, nu):
    """Optimally solve for radius R via the (1-nu)-quantile of distances."""
    return np.quantile(np.sqrt(dist.clone().data.cpu().numpy()), 1 - nu).astype(np.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--objective", default="soft-boundary")
    parser.add_argument("--nu", type=float, default=0.1)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--weight-decay", type=float, default=1e-5)
    parser.add_argument("--n-epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    train_x = torch.randn(96, 8) * torch.linspace(0.3, 1.0, 8) + 0.5
    test_x = torch.cat([torch.randn(20, 8) * torch.linspace(0.3, 1.0, 8) + 0.5, torch.randn(20, 8) * 2.0 - 1.0])
    labels = torch.cat([torch.zeros(20), torch.ones(20)]).long()

    net = SensorNet(8, 6)
    trainer = DeepSVDDTrainer(args.objective, args.nu, args.lr, args.weight_decay, args.n_epochs, warm_up_epochs=2)
    trainer.train(train_x.split(32), net)
    trainer.test(test_x, labels, net)


if __name__ == "__main__":
    main()
