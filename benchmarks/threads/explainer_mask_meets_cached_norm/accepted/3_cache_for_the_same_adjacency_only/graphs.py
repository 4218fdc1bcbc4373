import torch


def two_communities(n=14, feat=5):
    y = (torch.arange(n) >= n // 2).long()
    same = y[:, None] == y[None]
    prob = torch.where(same, 0.55, 0.1)
    up = torch.triu((torch.rand(n, n) < prob).float(), 1)
    adj = up + up.t()
    x = torch.randn(n, feat) + y[:, None].float() * 0.7
    return x, adj, y
