import torch
from torch import nn

from quantizable import FakeQuant, GRU


class KeywordSpotter(nn.Module):
    """Streams start from a learned state, one per layer."""

    def __init__(self, feat, hidden, layers, classes, bits):
        super().__init__()
        self.quant = FakeQuant(bits)
        self.rnn = GRU(feat, hidden, layers, bits)
        self.h0 = nn.Parameter(0.1 * torch.randn(layers, 1, 1, hidden))
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        start = self.h0.expand(-1, -1, x.shape[1], -1)
        out, _ = self.rnn(self.quant(x), start)
        return self.head(out[-1])


def toy_batches(n, seed, frames=7, batch=12, feat=6):
    g = torch.Generator().manual_seed(seed)
    words = torch.randn(4, frames, feat, generator=g)
    for _ in range(n):
        y = torch.randint(0, 4, (batch,), generator=g)
        x = words[y] + 0.5 * torch.randn(batch, frames, feat, generator=g)
        yield x.transpose(0, 1).contiguous(), y
