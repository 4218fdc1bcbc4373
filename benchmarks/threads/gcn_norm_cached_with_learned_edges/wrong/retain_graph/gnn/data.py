from types import SimpleNamespace

import torch


def noisy_communities(n, extra):
    y = torch.arange(n) % 3
    src, dst = torch.triu_indices(n, n, offset=1)
    same = (y[src] == y[dst]) & (torch.rand(src.numel()) < 0.4)
    noise = torch.randperm(src.numel())[:extra]
    keep = same.clone()
    keep[noise] = True
    e = torch.stack([src[keep], dst[keep]])
    x = torch.randn(n, 6) + 0.8 * torch.nn.functional.one_hot(y, 6)
    return SimpleNamespace(x=x, y=y, edge_index=torch.cat([e, e.flip(0)], 1), train=torch.arange(n) < 20)
