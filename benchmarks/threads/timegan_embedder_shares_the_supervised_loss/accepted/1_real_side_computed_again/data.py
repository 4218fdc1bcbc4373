import numpy as np
import torch


def sine_prices(no, seq_len, dim, seed=0):
    """Toy stock series: noisy sines, min-max scaled."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(no):
        freq, phase = rng.uniform(0, 0.5, (dim, 1)), rng.uniform(0, 0.5, (dim, 1))
        t = np.arange(seq_len)[None]
        out.append((np.sin(freq * t + phase) + 0.05 * rng.normal(size=(dim, seq_len))).T)
    x = np.stack(out)
    x = (x - x.min((0, 1))) / (x.max((0, 1)) - x.min((0, 1)) + 1e-7)
    return torch.tensor(x, dtype=torch.float32)


def batch_generator(data, batch_size, rng):
    idx = rng.permutation(len(data))[:batch_size]
    return data[torch.as_tensor(idx)]


def random_generator(batch_size, seq_len, dim, rng):
    return torch.tensor(rng.uniform(0., 1., (batch_size, seq_len, dim)), dtype=torch.float32)
