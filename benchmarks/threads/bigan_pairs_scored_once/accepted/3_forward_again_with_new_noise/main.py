import numpy as np
import torch

from options import get_options
from trainer import TrainerBiGAN


def ring(n, rng):
    """two-dimensional mixture on a ring, lifted to 6 dims"""
    k = rng.integers(0, 5, size=n)
    xy = np.stack([np.cos(2 * np.pi * k / 5), np.sin(2 * np.pi * k / 5)], 1) + 0.05 * rng.normal(size=(n, 2))
    lift = rng.normal(size=(2, 6))
    return torch.tensor(xy @ lift, dtype=torch.float32)


if __name__ == "__main__":
    args = get_options()
    torch.manual_seed(args.seed)
    data = ring(args.n_data, np.random.default_rng(args.seed))
    bigan = TrainerBiGAN(args, data)
    bigan.train()
    print("reconstruction %.6f" % bigan.reconstruction_error())
