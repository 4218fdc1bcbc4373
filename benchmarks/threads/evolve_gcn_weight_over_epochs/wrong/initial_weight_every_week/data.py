"""A toy stand-in for the chickenpox weeks: one ordered sequence of snapshots of a county graph."""
import torch


class Snapshot:
    def __init__(self, x, adj, y):
        self.x, self.adj, self.y = x, adj, y


def normalised(adj):
    adj = adj + torch.eye(adj.size(0))
    d = adj.sum(1).rsqrt()
    return d[:, None] * adj * d[None, :]


def temporal_signal(weeks=9, counties=10, lags=4):
    series = torch.zeros(weeks + lags + 1, counties)
    phase = torch.rand(counties) * 3
    for t in range(len(series)):
        series[t] = torch.sin(0.6 * t + phase) + 0.1 * torch.randn(counties)
    adj = normalised(sym(counties))
    return [Snapshot(series[t:t + lags].t().contiguous(), adj, series[t + lags][:, None]) for t in range(weeks)]


def sym(n):
    a = (torch.rand(n, n) < 0.3).float().triu(1)
    return a + a.t()


def temporal_signal_split(snapshots, train_ratio=0.7):
    cut = int(len(snapshots) * train_ratio)
    return snapshots[:cut], snapshots[cut:]
