import torch
from torch import nn


class Tabular:
    """Rows with a weight each; batches overlap by half, as in our time series."""

    def __init__(self, n=48, size=12):
        self.x = torch.randn(n, 5)
        self.y = self.x[:, :1] * 2 - self.x[:, 1:2].square()
        self.w = torch.rand(n, 1) * 3 + 0.2
        self.size = size

    def __len__(self):
        return (len(self.x) - self.size) // (self.size // 2) + 1

    def __getitem__(self, i):
        if i >= len(self):
            raise IndexError(i)
        lo = i * self.size // 2
        hi = lo + self.size
        return self.x[lo:hi], self.y[lo:hi], self.w[lo:hi]


class Trainer:
    def __init__(self, net, lr=0.02):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)

    def step(self, x, y, weights):
        out = self.net(x)
        fit = (weights.clone() * (out - y).square()).sum() / weights.sum()
        # for the robust term every batch has mean weight one
        weights /= weights.mean()
        robust = (weights * (out - y).abs()).mean()
        loss = fit + 0.3 * robust
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(3)
data = Tabular()
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
trainer = Trainer(net)
for epoch in range(3):
    total = 0.0
    for x, y, w in data:
        total += trainer.step(x, y, w)
    print(epoch, total / len(data))
