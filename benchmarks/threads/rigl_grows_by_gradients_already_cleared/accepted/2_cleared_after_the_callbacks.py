"""RigL (Evci et al. 2020): sparse from the start, every few steps the smallest weights are dropped
and the connections with the largest gradients are grown."""
import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


class Callback:
    def on_batch_end(self, trainer, step):
        pass


class LossPrinter(Callback):
    def on_batch_end(self, trainer, step):
        print(f"{step:3d} loss {trainer.last_loss:.6f} density {trainer.sparsity.density():.4f}")


class SparseMasks:
    def __init__(self, model, sparsity):
        self.layers = [m for m in model.modules() if isinstance(m, nn.Linear)][:-1]  # the last layer stays dense
        self.masks = []
        for m in self.layers:
            mask = (torch.rand_like(m.weight) >= sparsity).float()
            self.masks.append(mask)
        self.apply()

    @torch.no_grad()
    def apply(self):
        for m, mask in zip(self.layers, self.masks):
            m.weight *= mask

    def density(self):
        return sum(m.sum().item() for m in self.masks) / sum(m.numel() for m in self.masks)


class RigLScheduler(Callback):
    """drop by magnitude, grow by the dense gradient of the present batch"""

    def __init__(self, sparsity, delta, alpha, t_end):
        self.sparsity, self.delta, self.alpha, self.t_end = sparsity, delta, alpha, t_end
        self.updates = 0

    def cosine(self, step):
        return self.alpha / 2 * (1 + math.cos(step * math.pi / self.t_end))

    def on_batch_end(self, trainer, step):
        if step % self.delta == 0 and step < self.t_end:
            self.rigl_step(self.cosine(step))

    @torch.no_grad()
    def rigl_step(self, fraction):
        for i, layer in enumerate(self.sparsity.layers):
            w, mask = layer.weight, self.sparsity.masks[i]
            n_keep = int(mask.sum().item())
            n_prune = max(1, int(fraction * n_keep))
            score_drop = torch.where(mask.bool(), w.abs(), torch.full_like(w, -1.0)).flatten()
            kept = torch.zeros_like(score_drop)
            kept[score_drop.topk(n_keep - n_prune).indices] = 1.0
            # grow: neither what stayed nor what has just been dropped
            score_grow = layer.weight.grad.abs().flatten()
            score_grow = torch.where(mask.flatten().bool(), torch.full_like(score_grow, -1.0), score_grow)
            kept[score_grow.topk(n_prune).indices] = 1.0
            self.sparsity.masks[i] = kept.view_as(mask)
        self.sparsity.apply()
        self.updates += 1


class Trainer:
    def __init__(self, model, optimizer, sparsity, callbacks):
        self.model, self.optimizer, self.sparsity, self.callbacks = model, optimizer, sparsity, callbacks
        self.last_loss = float("nan")

    def train_step(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.sparsity.apply()
        self.last_loss = loss.item()

    def fit(self, batches):
        for step, (x, y) in enumerate(batches, start=1):
            self.train_step(x, y)
            for cb in self.callbacks:
                cb.on_batch_end(self, step)
            self.optimizer.zero_grad()


def main(args):
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    sparsity = SparseMasks(model, args.sparsity)
    callbacks = [RigLScheduler(sparsity, args.delta, args.alpha, t_end=args.steps), LossPrinter()]
    trainer = Trainer(model, optimizer, sparsity, callbacks)
    batches = []
    for _ in range(args.steps):
        x = torch.randn(24, 8)
        batches.append((x, (x[:, :3] * x[:, 3:6]).argmax(1)))
    trainer.fit(batches)
    print("updates of the topology", callbacks[0].updates)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sparsity", type=float, default=0.7)
    parser.add_argument("--delta", type=int, default=3)
    parser.add_argument("--alpha", type=float, default=0.4)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--grad-accumulation-n", type=int, default=1)  # only 1 at the moment
    parser.add_argument("--seed", type=int, default=1)
    main(parser.parse_args())
