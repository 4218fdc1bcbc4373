import torch


def make_batches(n, bs, size=14):
    """blobs of random place, noisy"""
    ys, xs = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    out = []
    for _ in range(n):
        c = torch.rand(bs, 2) * (size - 6) + 3
        m = (((ys - c[:, 0, None, None]) ** 2 + (xs - c[:, 1, None, None]) ** 2) < 9).float().unsqueeze(1)
        out.append((m * 0.8 + 0.3 * torch.randn(bs, 1, size, size) + 0.5, m))
    return out
