import numpy as np
import torch


def simulate(n, T, seed):
    """Sparse, irregular observations of noisy two-dimensional rotations: list of (times, values)."""
    rng = np.random.RandomState(seed)
    out = []
    for _ in range(n):
        phase = rng.uniform(0, 2 * np.pi)
        k = rng.randint(3, 6)
        t = np.sort(rng.choice(np.arange(1, 10), size=k, replace=False)) * 0.1 * T
        v = np.stack([np.cos(5 * t + phase), np.sin(5 * t + phase)], 1) + 0.05 * rng.randn(k, 2)
        out.append((t.round(4), v.astype(np.float32)))
    return out


def batches(samples, batch_size):
    """Observations of a batch sorted by time; time_ptr points at where each time begins."""
    res = []
    for s in range(0, len(samples), batch_size):
        rows = [(t, i, v) for i, (ts, vs) in enumerate(samples[s:s + batch_size]) for t, v in zip(ts, vs)]
        rows.sort(key=lambda r: (r[0], r[1]))
        times, time_ptr = [], [0]
        for j, r in enumerate(rows):
            if not times or r[0] != times[-1]:
                if times:
                    time_ptr.append(j)
                times.append(r[0])
        time_ptr.append(len(rows))
        X = torch.from_numpy(np.stack([r[2] for r in rows]))
        obs_idx = torch.tensor([r[1] for r in rows])
        res.append((times, time_ptr, X, obs_idx, batch_size))
    return res
