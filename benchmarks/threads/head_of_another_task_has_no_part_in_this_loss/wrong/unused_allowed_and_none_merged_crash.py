#!/usr/bin/env python
"""Multi-task perception for a delivery robot: slope (regression), surface (4 classes), obstacle (binary).

Gradients of the three losses are combined by projecting conflicting gradients, tensor by tensor
(Yu et al. 2020, per-layer variant).
"""
import argparse
import os
import random
import tempfile
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

TASKS = ("slope", "surface", "obstacle")


def make_data(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 18, generator=g)                       # imu + wheel current + 6 sonars
    slope = (0.8 * x[:, 0] - 0.5 * x[:, 3] + 0.3 * torch.tanh(x[:, 5] * x[:, 1])).unsqueeze(1)
    surface = (x[:, 6:10] + 0.5 * x[:, [0]] * torch.tensor([1.0, -1.0, 0.5, 0.0])).argmax(1)
    obstacle = ((x[:, 12:].min(1).values < -1.2) ^ (x[:, 0] > 1.0)).float().unsqueeze(1)
    return TensorDataset(x, slope, surface, obstacle)


class RobotNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(18, width), nn.ELU(), nn.Linear(width, width), nn.ELU())
        self.heads = nn.ModuleDict({
            "slope": nn.Linear(width, 1),
            "surface": nn.Sequential(nn.Linear(width, 16), nn.ELU(), nn.Linear(16, 4)),
            "obstacle": nn.Linear(width, 1),
        })

    def forward(self, x):
        h = self.trunk(x)
        return {t: self.heads[t](h) for t in TASKS}


def task_losses(out, slope, surface, obstacle):
    return {
        "slope": F.smooth_l1_loss(out["slope"], slope),
        "surface": F.cross_entropy(out["surface"], surface),
        "obstacle": F.binary_cross_entropy_with_logits(out["obstacle"], obstacle),
    }


class ProjectedGradients:
    """Wraps an optimizer; `backward` leaves the combined gradient in .grad of every parameter."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.conflicts = 0

    @property
    def params(self):
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        self.optimizer.step()

    def backward(self, losses):
        params = self.params
        table = []
        for loss in losses:
            grads = torch.autograd.grad(loss, params, retain_graph=True, allow_unused=True)
            table.append(list(grads))
        for k, p in enumerate(params):
            p.grad = self._merge([row[k] for row in table]).view_as(p)

    def _merge(self, grads):
        flat = [g.flatten() for g in grads]
        total = torch.zeros_like(flat[0])
        for i, own in enumerate(flat):
            g = own.clone()
            others = [j for j in range(len(flat)) if j != i]
            random.shuffle(others)
            for j in others:
                dot = torch.dot(g, flat[j])
                if dot < 0:
                    self.conflicts += 1
                    g = g - dot / flat[j].pow(2).sum() * flat[j]
            total += g
        return total


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    sums, n, right = defaultdict(float), 0, 0
    for x, *targets in loader:
        out = net(x)
        for t, l in task_losses(out, *targets).items():
            sums[t] += l.item() * len(x)
        right += (out["surface"].argmax(1) == targets[1]).sum().item()
        n += len(x)
    return {t: s / n for t, s in sums.items()}, right / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--seed", type=int, default=77)
    args = ap.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)

    train_set, val_set = random_split(make_data(256, args.seed), [192, 64])
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, 64)
    net = RobotNet()
    adam = torch.optim.Adam(net.parameters(), lr=args.lr)
    optimizer = ProjectedGradients(adam)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(adam, args.epochs)
    ckpt = os.path.join(tempfile.mkdtemp(), "robot.pt")

    for epoch in range(1, args.epochs + 1):
        net.train()
        running = defaultdict(float)
        for x, *targets in train_loader:
            losses = task_losses(net(x), *targets)
            optimizer.zero_grad()
            optimizer.backward([losses[t] for t in TASKS])
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
            for t in TASKS:
                running[t] += losses[t].item() / len(train_loader)
        scheduler.step()
        val, acc = evaluate(net, val_loader)
        print(f"[{epoch}] train " + " ".join(f"{t} {running[t]:.5f}" for t in TASKS)
              + " | val " + " ".join(f"{t} {val[t]:.5f}" for t in TASKS) + f" | acc {acc:.4f}")
        torch.save({"epoch": epoch, "net": net.state_dict()}, ckpt)
    print("conflicts", optimizer.conflicts)


if __name__ == "__main__":
    main()
