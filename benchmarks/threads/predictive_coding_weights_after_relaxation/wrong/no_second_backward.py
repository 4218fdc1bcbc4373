"""
Supervised predictive coding: the activities relax until the energy is low,
then every layer's weights learn from the prediction errors that are left (Whittington & Bogacz, 2017).
"""
import argparse

import torch
import torch.nn as nn


class PCNet(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:]))

    def predict(self, i, x):
        out = self.layers[i](x)
        return torch.tanh(out) if i < len(self.layers) - 1 else out

    def feedforward(self, x):
        acts = [x]
        for i in range(len(self.layers)):
            acts.append(self.predict(i, acts[-1]))
        return acts

    def energy(self, acts):
        """Half the squared prediction errors of all layers, mean over the batch."""
        e = 0.0
        for i in range(len(self.layers)):
            e = e + 0.5 * ((acts[i + 1] - self.predict(i, acts[i])) ** 2).sum(1).mean()
        return e


class PCTrainer:
    def __init__(self, model, T, x_lr, w_lr):
        self.model = model
        self.T = T
        self.x_lr = x_lr
        self.optim_w = torch.optim.Adam(model.parameters(), lr=w_lr)

    def train_on_batch(self, x, y):
        # activities start from the feedforward pass, input and output are clamped to data
        with torch.no_grad():
            acts = self.model.feedforward(x)
        acts[-1] = y
        hidden = [a.clone().requires_grad_(True) for a in acts[1:-1]]
        acts[1:-1] = hidden
        optim_x = torch.optim.SGD(hidden, lr=self.x_lr * len(x))

        energies = []
        for t in range(self.T):
            energy = self.model.energy(acts)
            optim_x.zero_grad()
            energy.backward(retain_graph=True)
            optim_x.step()
            energies.append(energy.item())

        # inference is done, now learn the weights
        self.optim_w.zero_grad()
        self.optim_w.step()
        return energies

    @torch.no_grad()
    def test(self, x, y):
        out = self.model.feedforward(x)[-1]
        return (out.argmax(1) == y.argmax(1)).float().mean().item(), ((out - y) ** 2).mean().item()


def two_moons(n):
    t = torch.rand(n) * 3.1416
    up = torch.arange(n) % 2
    x = torch.stack([torch.cos(t) + up - 0.5, torch.where(up == 1, 0.25 - torch.sin(t), torch.sin(t) - 0.25)], 1)
    return x + 0.08 * torch.randn(n, 2), nn.functional.one_hot(up, 2).float()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--T", type=int, default=6)
    parser.add_argument("--x-lr", type=float, default=0.2)
    parser.add_argument("--w-lr", type=float, default=1e-2)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--seed", type=int, default=10)
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    x, y = two_moons(60)
    trainer = PCTrainer(PCNet([2, 16, 12, 2]), args.T, args.x_lr, args.w_lr)
    for epoch in range(args.epochs):
        first, last = 0.0, 0.0
        for idx in torch.randperm(len(x)).split(args.batch):
            energies = trainer.train_on_batch(x[idx], y[idx])
            first, last = first + energies[0], last + energies[-1]
        acc, mse = trainer.test(x, y)
        print(f"epoch {epoch} energy {first / 3:.5f} -> {last / 3:.5f} mse {mse:.6f} acc {acc:.4f}")


if __name__ == "__main__":
    main()
