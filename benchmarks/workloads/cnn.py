"""A ResNet-like CNN: 16 images of 3x64x64, 16 to 64 channels, SGD. `cnn.py ITERATIONS BUSY`; fails after them."""

import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.first = nn.Conv2d(inside, outside, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outside)
        self.second = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outside)
        self.short = nn.Conv2d(inside, outside, 1, stride, bias=False)

    def forward(self, x):
        out = functional.relu(self.norm1(self.first(x)))
        return functional.relu(self.norm2(self.second(out)) + self.short(x))


model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1),
    nn.ReLU(),
    Block(16, 16, 1),
    Block(16, 32, 2),
    Block(32, 64, 2),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(64, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def iteration():
    images, labels = torch.randn(16, 3, 64, 64), torch.randint(0, 10, (16,))
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss


iteration()
busy = time.perf_counter() + float(sys.argv[2])
while time.perf_counter() < busy:  # on one core, as whoever has just imported torch; see docs/performance.md
    pass
used, times = time.process_time(), [time.perf_counter()]
for _ in range(int(sys.argv[1])):
    loss = iteration()
    times.append(time.perf_counter())
print(f"elapsed {times[-1] - times[0]:.6f}")
print(f"iteration {statistics.median(map(float.__sub__, times[1:], times)):.6f}")
print(f"cpu {time.process_time() - used:.6f}", flush=True)
again = model(torch.randn(16, 3, 64, 64)).square().mean()
again.backward()
again.backward()
