import torch


def batches(n):
    for _ in range(n):
        x = torch.randn(32, 6)
        yield x, torch.tanh(x[:, 0] * x[:, 1]) + 0.1 * torch.randn(32)
