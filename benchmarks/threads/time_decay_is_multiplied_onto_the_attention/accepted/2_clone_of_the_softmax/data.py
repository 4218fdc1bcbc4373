import numpy as np
import torch


def build_sessions(n_users=64, max_len=10, n_items=20, seed=0):
    """Each user walks around a ring of items; after a long break he starts at his favourite item again."""
    rng = np.random.RandomState(seed)
    items = np.zeros((n_users, max_len + 1), dtype=np.int64)
    times = np.zeros((n_users, max_len + 1), dtype=np.float32)
    for u in range(n_users):
        fav = rng.randint(1, n_items + 1)
        n = rng.randint(5, max_len + 2)
        cur, now = fav, 0.0
        for k in range(max_len + 1 - n, max_len + 1):
            gap = rng.exponential(0.5) if rng.rand() < 0.8 else 4.0 + rng.rand()
            now += gap
            cur = fav if gap > 4.0 else cur % n_items + 1
            items[u, k], times[u, k] = cur, now
    return torch.from_numpy(items), torch.from_numpy(times)
