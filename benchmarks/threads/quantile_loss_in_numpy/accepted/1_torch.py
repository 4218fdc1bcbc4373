import numpy as np
import torch
import torch.nn as nn

QUANTILES = [0.1, 0.5, 0.9]


def pinball(pred, target, q):
    err = target - pred
    return torch.where(err >= 0, q * err, (q - 1) * err)


def quantile_loss(pred, target, crossing=0.3):
    p, t = pred, target
    per_q = [torch.mean(pinball(p[:, i], t, q)) for i, q in enumerate(QUANTILES)]
    cross = torch.clip(p[:, :-1] - p[:, 1:], 0, None).mean()
    return torch.stack(per_q).sum() + crossing * cross


class QuantileNet(nn.Module):
    def __init__(self, n_in=4, hidden=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, hidden), nn.ELU(), nn.Linear(hidden, len(QUANTILES)))

    def forward(self, x):
        return self.net(x)


if __name__ == "__main__":
    torch.manual_seed(1)
    model = QuantileNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(6):
        x = torch.randn(40, 4)
        y = x[:, 0] + 0.5 * torch.randn(40) * x[:, 1].abs()
        loss = quantile_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss %.6f" % loss.item())
