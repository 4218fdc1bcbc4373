import torch
from torch.utils.data import DataLoader, TensorDataset


def _make(n, d, g):
    x = torch.randn(n, d, generator=g)
    energy = 120.0 * torch.tanh(x[:, 0] + 0.5 * x[:, 1]) + 10.0 * x[:, 2]
    gap = 0.3 * (x[:, 3] * x[:, 4]) + 0.05 * torch.randn(n, generator=g)
    metal = ((x[:, 5] - x[:, 0]) > 0).float()
    return TensorDataset(x, energy, gap, metal)


def make_loaders(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    train = _make(cfg.n_train, cfg.n_features, g)
    val = _make(cfg.n_val, cfg.n_features, g)
    shuffle = torch.Generator().manual_seed(cfg.seed + 1)
    return (DataLoader(train, cfg.batch_size, shuffle=True, generator=shuffle),
            DataLoader(val, cfg.batch_size))
