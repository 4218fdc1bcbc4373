"""Forecasts the second half of a bump from the first half, compared by the soft-DTW divergence."""
import argparse

import torch
from torch import nn

from sdtw.loss import SoftDTW


class Seq2Seq(nn.Module):
    def __init__(self, hidden, horizon):
        super().__init__()
        self.horizon = horizon
        self.encoder = nn.GRU(1, hidden, batch_first=True)
        self.decoder = nn.GRUCell(1, hidden)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        _, h = self.encoder(x)
        h, y, out = h[0], x[:, -1], []
        for _ in range(self.horizon):
            h = self.decoder(y, h)
            y = self.fc(h)
            out.append(y)
        return torch.stack(out, dim=1)


def bumps(n, length=14):
    t = torch.linspace(0, 1, length).unsqueeze(0)
    centre = 0.4 + 0.3 * torch.rand(n, 1)
    y = torch.exp(-((t - centre) ** 2) / 0.02) + 0.02 * torch.randn(n, length)
    return y[:, : length // 2, None], y[:, length // 2:, None]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gamma", type=float, default=0.1)
    parser.add_argument("--normalize", type=int, default=1, help="divergence instead of the raw value (may be negative)")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--use_cuda", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(1994)
    x, y = bumps(6)
    model = Seq2Seq(10, y.size(1))
    criterion = SoftDTW(gamma=args.gamma, normalize=bool(args.normalize))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = criterion(model(x), y).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("epoch %d loss %.5f" % (epoch, loss.item()))


if __name__ == "__main__":
    main()
