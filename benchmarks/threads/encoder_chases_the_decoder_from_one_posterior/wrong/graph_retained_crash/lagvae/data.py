import numpy as np
import torch


def make_bags(n, vocab, topics, words, seed=12):
    """Bags of words: every ticket mixes two topics, every topic prefers a few words."""
    rng = np.random.RandomState(seed)
    beta = rng.dirichlet(np.full(vocab, 0.08), size=topics)
    bags = np.zeros((n, vocab), dtype=np.float32)
    for i in range(n):
        theta = rng.dirichlet(np.full(topics, 0.3))
        bags[i] = rng.multinomial(words, theta @ beta / (theta @ beta).sum())
    return torch.from_numpy(bags)


def split(bags, ratio):
    cut = int(len(bags) * ratio)
    return bags[:cut], bags[cut:]
