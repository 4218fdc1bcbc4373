"""Reptile on sinusoids

Nichol et al.: phi <- phi + eps * (W - phi), W = k steps of SGD from phi on one task
"""
import copy
import math

import torch
from torch import nn, optim


class SineTask:
    def __init__(self, rng):
        self.amp = 0.1 + 4.9 * torch.rand(1, generator=rng).item()
        self.phase = math.pi * torch.rand(1, generator=rng).item()
        self.rng = rng

    def batch(self, n=10):
        x = torch.rand(n, 1, generator=self.rng) * 10 - 5
        return x, self.amp * torch.sin(x + self.phase)


class Regressor(nn.Module):
    def __init__(self, h=40):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh())
        self.head = nn.Linear(h, 1)

    def forward(self, x):
        return self.head(self.body(x))


class Reptile:

    def __init__(self, model, inner_lr=0.02, inner_steps=4, meta_lr=0.5, meta_iters=6):
        self.model = model
        self.inner_lr = inner_lr
        self.inner_steps = inner_steps
        self.meta_lr = meta_lr
        self.meta_iters = meta_iters
        self.loss_fn = nn.MSELoss()

    def adapt(self, task, steps=None):
        fast = copy.deepcopy(self.model)
        opt = optim.SGD(fast.parameters(), lr=self.inner_lr)
        x, y = task.batch()
        for _ in range(steps or self.inner_steps):
            opt.zero_grad()
            loss = self.loss_fn(fast(x), y)
            loss.backward()
            opt.step()
        return fast, loss.item()

    def meta_step(self, task, frac_done):
        fast, loss = self.adapt(task)
        eps = self.meta_lr * (1 - frac_done)   # linear schedule
        for phi, w in zip(self.model.parameters(), fast.parameters()):
            phi.clone().add_(eps * (w - phi))
        return loss

    def evaluate(self, tasks):
        total = 0.
        for t in tasks:
            fast, _ = self.adapt(t, steps=8)
            x, y = t.batch(20)
            with torch.no_grad():
                total += self.loss_fn(fast(x), y).item()
        return total / len(tasks)

    def train(self, rng):
        for it in range(self.meta_iters):
            loss = self.meta_step(SineTask(rng), it / self.meta_iters)
            print('meta iter', it, 'inner loss %.6f' % loss)


def main():
    torch.manual_seed(0)
    rng = torch.Generator()
    rng.manual_seed(7)
    reptile = Reptile(Regressor())
    reptile.train(rng)
    test = [SineTask(rng) for _ in range(3)]
    print('test mse after 8 steps: %.6f' % reptile.evaluate(test))
    print('|phi| %.6f' % sum(p.detach().norm().item() for p in reptile.model.parameters()))


if __name__ == '__main__':
    main()
