"""
Simulates asynchronous pipeline parallelism on one process: the gradient of a micro batch arrives `delay` updates
after its forward pass. It is the gradient at the weights of the forward pass, applied to the weights of now.
"""
import argparse
from collections import deque

import torch
from torch import nn


class Stage(nn.Module):
    def __init__(self, d_in, d_out, act=True):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out)
        self.act = nn.Tanh() if act else nn.Identity()

    def forward(self, x):
        return self.act(self.lin(x))


class Pipeline:
    def __init__(self, stages, lr, delay):
        self.model = nn.Sequential(*stages)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
        self.delay = delay
        self.in_flight = deque()
        self.updates = 0

    def forward_micro_batch(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.in_flight.append((x, y))
        return loss.item()

    def backward_micro_batch(self):
        x, y = self.in_flight.popleft()
        loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1

    def run(self, batches):
        losses = []
        for x, y in batches:
            losses.append(self.forward_micro_batch(x, y))
            if len(self.in_flight) > self.delay:
                self.backward_micro_batch()
        while self.in_flight:            # drain
            self.backward_micro_batch()
        return losses


def make_batches(n, size, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(6, 2, generator=g)
    for _ in range(n):
        x = torch.randn(size, 6, generator=g)
        yield x, torch.sin(x @ w)


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--delay', type=int, default=2)
    p.add_argument('--lr', type=float, default=0.2)
    p.add_argument('--batches', type=int, default=14)
    a = p.parse_args()
    torch.manual_seed(0)
    pipe = Pipeline([Stage(6, 16), Stage(16, 16), Stage(16, 2, act=False)], a.lr, a.delay)
    history = pipe.run(make_batches(a.batches, 16, seed=1))
    print('updates', pipe.updates)
    print(' '.join('%.5f' % v for v in history[::3]), '%.6f' % history[-1])
