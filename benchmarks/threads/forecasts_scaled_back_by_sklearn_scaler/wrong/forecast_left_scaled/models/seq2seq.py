import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self, n_series, d_model, pred_len):
        super().__init__()
        self.enc = nn.GRU(n_series, d_model, batch_first=True)
        self.cell = nn.GRUCell(n_series, d_model)
        self.proj = nn.Linear(d_model, n_series)
        self.pred_len = pred_len

    def forward(self, x, y, teacher_forcing, gen):
        _, h = self.enc(x)
        h = h[0]
        inp, outs = x[:, -1], []
        for t in range(self.pred_len):
            h = self.cell(inp, h)
            out = self.proj(h)
            outs.append(out)
            inp = y[:, t] if torch.rand((), generator=gen).item() < teacher_forcing else out
        return torch.stack(outs, 1)
