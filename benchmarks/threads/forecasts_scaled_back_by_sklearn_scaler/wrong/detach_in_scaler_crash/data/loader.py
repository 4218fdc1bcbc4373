import numpy as np
import torch

from .scaler import StandardScaler


class LoadDataset:
    n_series = 3

    def __init__(self, seq_len, pred_len, n=110):
        rng = np.random.RandomState(0)
        t = np.arange(n, dtype=np.float32)
        raw = np.stack([40 + 12 * np.sin(t / 4), 0.3 + 0.1 * np.cos(t / 3), 5 + 0.02 * t], 1).astype(np.float32)
        raw += rng.randn(n, self.n_series).astype(np.float32) * np.array([2.0, 0.02, 0.1], dtype=np.float32)
        self.border = 80
        self.scaler = StandardScaler().fit(raw[: self.border])
        self.values = torch.from_numpy(self.scaler.transform(raw).astype(np.float32))
        self.seq_len, self.pred_len = seq_len, pred_len

    def inverse_transform(self, data):
        return self.scaler.inverse_transform(data)

    def batches(self, flag, size):
        first, last = (0, self.border) if flag == "train" else (self.border - self.seq_len, len(self.values))
        starts = list(range(first, last - self.seq_len - self.pred_len + 1))
        for i in range(0, len(starts), size):
            s = starts[i:i + size]
            yield (torch.stack([self.values[k:k + self.seq_len] for k in s]),
                   torch.stack([self.values[k + self.seq_len:k + self.seq_len + self.pred_len] for k in s]))
