"""Hardware-aware training for an analog crossbar: weights carry programming noise during
forward and backward of a mini-batch, the update is made on the reference weights."""
import argparse
import math
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn import functional as F


class AnalogLinear(nn.Linear):
    """Linear layer with DAC and ADC of few bits (straight-through)."""

    def __init__(self, n_in, n_out, bits=6, bound=4.0):
        super().__init__(n_in, n_out)
        self.levels = 2 ** (bits - 1) - 1
        self.bound = bound

    def convert(self, x):
        step = self.bound / self.levels
        q = (x.clamp(-self.bound, self.bound) / step).round() * step
        return x + (q - x).detach()

    def forward(self, x):
        return self.convert(super().forward(self.convert(x)))


class WeightModifier:
    """Adds Gaussian noise in proportion to the largest weight of each tile."""

    def __init__(self, model, std, generator):
        self.params = [m.weight for m in model.modules() if isinstance(m, AnalogLinear)]
        self.std = std
        self.generator = generator
        self.noise = []

    def draw(self):
        self.noise = []
        for p in self.params:
            scale = self.std * p.detach().abs().max()
            self.noise.append(scale * torch.randn(p.shape, generator=self.generator))

    @contextmanager
    def modified(self, active=True):
        if active:
            self.draw()
            for p, n in zip(self.params, self.noise):
                p.detach().clone().add_(n)
        try:
            yield
        finally:
            if active:
                for p, n in zip(self.params, self.noise):
                    p.detach().clone().sub_(n)


class Net(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.features = nn.Sequential(AnalogLinear(16, width), nn.Tanh(), AnalogLinear(width, width), nn.Tanh())
        self.head = nn.Linear(width, 4)          # digital

    def forward(self, x):
        return self.head(self.features(x))


def make_data(n, generator):
    x = torch.randn(n, 16, generator=generator)
    angle = torch.atan2(x[:, 0] + x[:, 2], x[:, 1] - x[:, 3])
    y = ((angle + math.pi) / (2 * math.pi) * 4).long().clamp(max=3)
    return x, y


@torch.no_grad()
def accuracy(model, modifier, x, y, repeats=3):
    """Accuracy of the programmed chip, averaged over drawings."""
    model.eval()
    hits = 0.0
    for _ in range(repeats):
        with modifier.modified():
            hits += (model(x).argmax(1) == y).float().mean().item() / repeats
    model.train()
    return hits


def train(model, modifier, data, args):
    x, y = data
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=args.lr, total_steps=args.steps)
    curve = []
    for step in range(args.steps):
        rows = torch.arange(step * args.batch, (step + 1) * args.batch) % len(x)
        optimizer.zero_grad()
        with modifier.modified(active=step >= args.clean_steps):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
        optimizer.step()
        scheduler.step()
        curve.append(loss.item())
    return curve


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--clean-steps", type=int, default=2, help="warm-up without noise")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--std", type=float, default=0.12)
    args = parser.parse_args()
    torch.manual_seed(17)
    generator = torch.Generator().manual_seed(18)
    data = make_data(192, generator)
    test = make_data(128, generator)
    model = Net()
    modifier = WeightModifier(model, args.std, generator)
    curve = train(model, modifier, data, args)
    print("loss " + " ".join(f"{v:.5f}" for v in curve[::3]))
    norm = sum(p.detach().pow(2).sum() for p in modifier.params).sqrt()
    print(f"weight norm {norm.item():.5f} chip accuracy {accuracy(model, modifier, *test):.4f}")


if __name__ == "__main__":
    main()
