import torch


def ring_with_shortcuts(n):
    a = torch.zeros(n, n)
    for i in range(n):
        a[i, (i + 1) % n] = 1.0
        a[i, (i * 3 + 2) % n] = 0.5
    return a


def random_walk(adj):
    """D^-1 W and its reverse"""
    fwd = adj / adj.sum(1, keepdim=True).clamp(min=1e-6)
    bwd = adj.t() / adj.t().sum(1, keepdim=True).clamp(min=1e-6)
    return [fwd, bwd]
