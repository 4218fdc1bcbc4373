import numpy as np
import torch


class StreamBatcher:
    """Plays several recordings side by side. When one ends, its slot is filled by the next recording.

    yields x [T, B, F], y [T, B], last [T, B] (True at the last sample of a recording)
    """

    def __init__(self, n_slots=6, chunk=8, n_chunks=10, seed=0):
        self.n_slots, self.chunk, self.n_chunks = n_slots, chunk, n_chunks
        self.seed = seed

    def __iter__(self):
        rng = np.random.RandomState(self.seed)
        level = rng.randn(self.n_slots)
        left = rng.randint(5, 20, size=self.n_slots)
        for _ in range(self.n_chunks):
            xs, ys, lasts = [], [], []
            for _ in range(self.chunk):
                obs = level[:, None] + 0.8 * rng.randn(self.n_slots, 3)
                xs.append(obs)
                ys.append((level > 0).astype(np.int64))
                left -= 1
                last = left == 0
                lasts.append(last.copy())
                if last.any():
                    level[last] = rng.randn(last.sum())
                    left[last] = rng.randint(5, 20, size=last.sum())
            yield (torch.tensor(np.stack(xs), dtype=torch.float32),
                   torch.tensor(np.stack(ys)), torch.tensor(np.stack(lasts)))
