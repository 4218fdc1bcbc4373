import argparse

import torch
import torch.nn as nn

from cells import DCGRUCell
from graph_utils import random_walk, ring_with_shortcuts


class TrafficForecaster(nn.Module):
    def __init__(self, supports, n_nodes, units):
        super().__init__()
        self.cell = DCGRUCell(1, units, supports, n_nodes, use_gc_for_ru=False)
        self.proj = nn.Linear(units, 1)
        self.units, self.n_nodes = units, n_nodes

    def forward(self, x, horizon):
        # x: (batch, time, nodes)
        h = x.new_zeros(x.size(0), self.n_nodes, self.units)
        for t in range(x.size(1)):
            h = self.cell(x[:, t].unsqueeze(-1), h)
        out, y = [], x[:, -1].unsqueeze(-1)
        for _ in range(horizon):
            h = self.cell(y, h)
            y = self.proj(h)
            out.append(y.squeeze(-1))
        return torch.stack(out, dim=1)


def masked_mae(pred, true, null_val=0.0):
    mask = (true != null_val).float()
    mask = mask / mask.mean()
    return (mask * (pred - true).abs()).mean()


def speeds(n, t, nodes):
    phase = torch.rand(n, 1, nodes) * 6.28
    time = torch.arange(t).float().view(1, t, 1)
    s = torch.sin(0.6 * time + phase) + 0.1 * torch.randn(n, t, nodes)
    s[torch.rand_like(s) < 0.05] = 0.0     # sensor outages
    return s


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--units', type=int, default=6)
    parser.add_argument('--horizon', type=int, default=3)
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--cl_decay_steps', type=int, default=2000)   # curriculum, off
    args = parser.parse_args()
    torch.manual_seed(31)

    nodes = 7
    supports = random_walk(ring_with_shortcuts(nodes))
    data = speeds(24, 8 + args.horizon, nodes)
    model = TrafficForecaster(supports, nodes, args.units)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, eps=1e-3)
    for epoch in range(args.epochs):
        losses = []
        for i in range(0, len(data), 8):
            batch = data[i:i + 8]
            optimizer.zero_grad()
            loss = masked_mae(model(batch[:, :8], args.horizon), batch[:, 8:])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            losses.append(loss.item())
        print('epoch %d train_mae %.6f' % (epoch, sum(losses) / len(losses)))


if __name__ == '__main__':
    main()
