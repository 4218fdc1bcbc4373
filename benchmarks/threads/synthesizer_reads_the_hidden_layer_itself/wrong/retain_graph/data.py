"""Toy stand-in for MNIST: six noisy prototypes in 20 dimensions."""
import torch


def make_loader(n_batches, batch_size, n_classes=6, dim=20, seed=0):
    g = torch.Generator().manual_seed(seed)
    protos = torch.randn(n_classes, dim, generator=g)
    batches = []
    for _ in range(n_batches):
        y = torch.randint(0, n_classes, (batch_size,), generator=g)
        x = protos[y] + 0.9 * torch.randn(batch_size, dim, generator=g)
        batches.append((x, y))
    return batches
