import numpy as np
import torch

POSITIVE = list(range(1, 11))
NEGATIVE = list(range(11, 21))
FILLER = list(range(21, 40))


def comments(n, seed, max_length=9):
    rng = np.random.default_rng(seed)
    tokens = np.zeros((n, max_length), dtype=np.int64)
    lengths = rng.integers(4, max_length + 1, n)
    labels = rng.integers(0, 2, n)
    for i in range(n):
        words = rng.choice(FILLER, lengths[i])
        mood = rng.choice(POSITIVE if labels[i] else NEGATIVE, 2)
        words[rng.choice(lengths[i], 2, replace=False)] = mood
        tokens[i, : lengths[i]] = words
    return torch.from_numpy(tokens), torch.from_numpy(lengths), torch.from_numpy(labels)


def batched(data, size):
    return list(zip(*(column.split(size) for column in data)))
