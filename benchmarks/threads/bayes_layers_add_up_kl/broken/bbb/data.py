import torch


def sine(n):
    x = torch.linspace(-2, 2, n)[torch.randperm(n)][:, None]
    return x, torch.sin(2 * x) + 0.1 * torch.randn_like(x)
