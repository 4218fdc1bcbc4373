"""A transformer: 8 sequences of 64 tokens, width 128, 4 layers, AdamW. `transformer.py ITERATIONS BUSY`; fails then."""

import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

torch.manual_seed(0)
WORDS, LENGTH, WIDTH = 256, 64, 128


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.heads, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, length, _ = x.shape
        parts = self.heads(self.norm1(x)).view(batch, length, 3, 4, WIDTH // 4).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.wide(self.norm2(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(4)))
        self.last = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        return self.last(self.blocks(self.token(tokens) + self.place.weight))


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)


def iteration():
    tokens = torch.randint(0, WORDS, (8, LENGTH + 1))
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
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
again = model(torch.randint(0, WORDS, (8, LENGTH))).square().mean()
again.backward()
again.backward()
