"""Crowd counting through flows between neighbouring cells of consecutive frames."""
import argparse
import os
import time

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

# where the people of a cell go: 3 x 3 neighbourhood, staying included
OFFSETS = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]


class FlowNet(nn.Module):
    """Two frames -> nine flows per cell, at a quarter of the resolution."""

    def __init__(self, width=12):
        super(FlowNet, self).__init__()
        self.frontend = nn.Sequential(
            nn.Conv2d(1, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1), nn.ReLU()
        )
        self.backend = nn.Sequential(nn.Conv2d(2 * width, width, 3, 1, 2, dilation=2), nn.ReLU())
        self.output = nn.Conv2d(width, len(OFFSETS), 1)

    def forward(self, prev_img, img):
        x = torch.cat([self.frontend(prev_img), self.frontend(img)], 1)
        return F.softplus(self.output(self.backend(x)) - 3.0)


def reconstruction_forward(flow):
    """Density of the later frame: what flows into each cell from its neighbours."""
    h, w = flow.shape[2:]
    padded = F.pad(flow, (1, 1, 1, 1))
    out = 0.0
    for i, (dy, dx) in enumerate(OFFSETS):
        out = out + padded[:, i, 1 + dy:1 + dy + h, 1 + dx:1 + dx + w]
    return out


def reconstruction_inverse(flow):
    """Density of the earlier frame: all that leaves a cell."""
    return flow.sum(1)


class Crowd:
    """Blobs that walk; the density is known per cell."""

    def __init__(self, size=24, people=10, seed=0):
        self.size, self.people = size, people
        self.rng = np.random.RandomState(seed)

    def density(self, pos):
        cells = self.size // 4
        d = np.zeros((cells, cells), dtype=np.float32)
        for y, x in np.clip(pos // 4, 0, cells - 1).astype(int):
            d[y, x] += 1
        return d

    def image(self, pos):
        yy, xx = np.mgrid[: self.size, : self.size]
        img = np.zeros((self.size, self.size))
        for y, x in pos:
            img += np.exp(-((yy - y) ** 2 + (xx - x) ** 2) / 3.0)
        return img + 0.05 * self.rng.randn(*img.shape)

    def batch(self, n):
        frames, targets = [], []
        for _ in range(n):
            p0 = self.rng.uniform(2, self.size - 2, (self.people, 2))
            p1 = np.clip(p0 + self.rng.normal(0, 2, p0.shape), 0, self.size - 1)
            frames.append([self.image(p0), self.image(p1)])
            targets.append([self.density(p0), self.density(p1)])
        f = torch.tensor(np.array(frames), dtype=torch.float32)
        t = torch.tensor(np.array(targets))
        return f[:, :1], f[:, 1:], t[:, 0], t[:, 1]


def train(loader, model, criterion, optimizer, epoch, args):
    losses, end = [], time.time()
    model.train()
    for i in range(args.iters):
        prev_img, img, prev_target, target = loader.batch(args.batch_size)
        prev_flow = model(prev_img, img)
        back_flow = model(img, prev_img)
        # both directions have to explain both frames
        loss = criterion(reconstruction_forward(prev_flow), target)
        loss = loss + criterion(reconstruction_inverse(prev_flow), prev_target)
        loss = loss + criterion(reconstruction_forward(back_flow), prev_target)
        loss = loss + criterion(reconstruction_inverse(back_flow), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if os.environ.get("VERBOSE"):
        print("epoch", epoch, "took", time.time() - end)
    return float(np.mean(losses))


@torch.no_grad()
def validate(loader, model, args):
    model.eval()
    prev_img, img, _, target = loader.batch(args.batch_size)
    count = reconstruction_forward(model(prev_img, img)).sum((1, 2))
    return (count - target.sum((1, 2))).abs().mean().item()


def main():
    parser = argparse.ArgumentParser(description="People flows")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--iters", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=3)
    parser.add_argument("--lr", type=float, default=6e-3)
    args = parser.parse_args()
    torch.manual_seed(25)
    loader, model = Crowd(seed=25), FlowNet()
    criterion = nn.MSELoss(reduction="sum")
    optimizer = torch.optim.Adam(model.parameters(), args.lr, weight_decay=5e-4)
    best = float("inf")
    for epoch in range(args.epochs):
        loss = train(loader, model, criterion, optimizer, epoch, args)
        mae = validate(loader, model, args)
        best = min(best, mae)
        print("epoch %d loss %.5f MAE %.5f best %.5f" % (epoch, loss, mae, best))


if __name__ == "__main__":
    main()
