"""A small GAN: 64 samples of 32 numbers, hidden layers of 128, Adam. `gan.py ITERATIONS BUSY`; fails after them."""

import statistics
import sys
import time

import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 32))
D = nn.Sequential(nn.Linear(32, 128), nn.LeakyReLU(0.2), nn.Linear(128, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
optim_g = torch.optim.Adam(G.parameters(), lr=1e-4)
optim_d = torch.optim.Adam(D.parameters(), lr=1e-4)
criterion = nn.BCEWithLogitsLoss()
real, fake = torch.ones(64, 1), torch.zeros(64, 1)


def iteration():
    data = torch.randn(64, 32)
    generated = G(torch.randn(64, 16))
    optim_d.zero_grad()
    loss_d = criterion(D(data), real) + criterion(D(generated.detach()), fake)
    loss_d.backward()
    optim_d.step()
    optim_g.zero_grad()
    loss_g = criterion(D(generated), real)
    loss_g.backward()
    optim_g.step()
    return loss_g


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
again = G(torch.randn(64, 16)).square().mean()
again.backward()
again.backward()
