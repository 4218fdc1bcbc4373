# Forward-Forward (Hinton 2022) on toy digits.  Каждый слой учится сам, без обратного распространения между слоями.
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Adam


def overlay_y_on_x(x, y, n_classes):
    """Replace the first n_classes inputs by the one-hot label"""
    x_ = x.clone()
    x_[:, :n_classes] *= 0.0
    x_[range(x.shape[0]), y] = x.max()
    return x_


class FFLayer(nn.Linear):
    def __init__(self, in_features, out_features, lr=0.03, threshold=2.0):
        super().__init__(in_features, out_features)
        self.relu = nn.ReLU()
        self.opt = Adam(self.parameters(), lr=lr)
        self.threshold = threshold

    def forward(self, x):
        x_direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return self.relu(F.linear(x_direction, self.weight, self.bias))

    def local_loss(self, h_pos, h_neg):
        g_pos = h_pos.pow(2).mean(1)
        g_neg = h_neg.pow(2).mean(1)
        # The following loss pushes pos (neg) samples to values larger (smaller) than the self.threshold.
        return torch.log(1 + torch.exp(torch.cat([-g_pos + self.threshold, g_neg - self.threshold]))).mean()

    def train_batch(self, x_pos, x_neg):
        x_pos, x_neg = x_pos.detach(), x_neg.detach()
        h_pos, h_neg = self.forward(x_pos), self.forward(x_neg)
        loss = self.local_loss(h_pos, h_neg)
        self.opt.zero_grad()
        # this backward just computes the local derivative, it is not backpropagation
        loss.backward()
        self.opt.step()
        return h_pos, h_neg, loss.item()


class FFNet(nn.Module):
    def __init__(self, dims, lr):
        super().__init__()
        self.layers = nn.ModuleList([FFLayer(i, o, lr=lr) for i, o in zip(dims[:-1], dims[1:])])

    def train_batch(self, x_pos, x_neg):
        losses = []
        h_pos, h_neg = x_pos, x_neg
        for layer in self.layers:
            h_pos, h_neg, loss = layer.train_batch(h_pos, h_neg)
            losses.append(loss)
        return losses

    @torch.no_grad()
    def predict(self, x, n_classes):
        goodness_per_label = []
        for label in range(n_classes):
            h = overlay_y_on_x(x, torch.full((x.shape[0],), label), n_classes)
            goodness = []
            for layer in self.layers:
                h = layer(h)
                goodness.append(h.pow(2).mean(1))
            goodness_per_label.append(sum(goodness).unsqueeze(1))
        return torch.cat(goodness_per_label, 1).argmax(1)


def toy_digits(n, n_in, n_classes, rng):
    centres = rng.uniform(0.0, 1.0, size=(n_classes, n_in))
    y = rng.integers(0, n_classes, size=n)
    x = centres[y] + 0.15 * rng.normal(size=(n, n_in))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--lr", type=float, default=0.02)
    ap.add_argument("--n-classes", type=int, default=4)
    ap.add_argument("--hidden", type=int, nargs="+", default=[32, 32, 24])
    args = ap.parse_args()
    torch.manual_seed(1234)
    rng = np.random.default_rng(1234)
    x, y = toy_digits(96, 20, args.n_classes, rng)
    net = FFNet([20] + args.hidden, args.lr)
    for epoch in range(args.epochs):
        x_pos = overlay_y_on_x(x, y, args.n_classes)
        wrong = (y + torch.as_tensor(rng.integers(1, args.n_classes, size=len(y)))) % args.n_classes
        x_neg = overlay_y_on_x(x, wrong, args.n_classes)
        losses = net.train_batch(x_pos, x_neg)
        print("epoch", epoch, " ".join("%.6f" % l for l in losses))
    print("train error:", 1.0 - net.predict(x, args.n_classes).eq(y).float().mean().item())


if __name__ == "__main__":
    main()
