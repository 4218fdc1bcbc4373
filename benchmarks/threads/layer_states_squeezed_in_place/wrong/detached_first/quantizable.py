import torch
from torch import nn


class FakeQuant(nn.Module):
    """symmetric, straight through"""

    def __init__(self, bits):
        super().__init__()
        self.levels = 2 ** (bits - 1) - 1

    def forward(self, x):
        scale = x.detach().abs().max().clamp(min=1e-6) / self.levels
        q = (x / scale).round().clamp(-self.levels, self.levels) * scale
        return x + (q - x).detach()


class GRUCell(nn.Module):
    def __init__(self, n_in, n_hidden, bits):
        super().__init__()
        self.ih = nn.Linear(n_in, 3 * n_hidden)
        self.hh = nn.Linear(n_hidden, 3 * n_hidden)
        self.fq = FakeQuant(bits)

    def forward(self, x, h):
        ir, iz, inn = self.fq(self.ih(x)).chunk(3, 1)
        hr, hz, hn = self.fq(self.hh(h)).chunk(3, 1)
        r, z = torch.sigmoid(ir + hr), torch.sigmoid(iz + hz)
        n = torch.tanh(inn + r * hn)
        return self.fq((1 - z) * n + z * h)


class GRU(nn.Module):
    def __init__(self, n_in, n_hidden, num_layers, bits):
        super().__init__()
        self.num_layers = num_layers
        self.cells = nn.ModuleList([GRUCell(n_in if i == 0 else n_hidden, n_hidden, bits) for i in range(num_layers)])

    def forward(self, x, hidden):
        hx = hidden.unbind(0)
        # (1, batch, hidden) -> (batch, hidden)
        hx = [(hx[idx].detach().squeeze_(0)) for idx in range(self.num_layers)]
        out = []
        for frame in x:
            for idx, cell in enumerate(self.cells):
                frame = hx[idx] = cell(frame, hx[idx])
            out.append(frame)
        return torch.stack(out), torch.stack(hx).unsqueeze(1)
