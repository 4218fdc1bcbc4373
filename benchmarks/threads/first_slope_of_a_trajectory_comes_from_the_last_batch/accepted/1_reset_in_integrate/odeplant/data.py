"""Stand-in for the pilot plant logs: levels of two coupled tanks under a periodic inflow."""
import numpy as np
import torch


class TankRecords:
    def __init__(self, n_runs, horizon, n_points, noise, seed):
        rng = np.random.default_rng(seed)
        self.times = torch.linspace(0.0, horizon, n_points)
        y = rng.uniform(0.4, 1.6, size=(n_runs, 2))
        fine = 40
        dt = horizon / (n_points - 1) / fine
        levels = [y.copy()]
        for k in range((n_points - 1) * fine):
            t = k * dt
            inflow = 0.35 + 0.25 * np.sin(2 * np.pi * t / 6.0)
            q12 = 0.5 * np.sign(y[:, 0] - y[:, 1]) * np.sqrt(np.abs(y[:, 0] - y[:, 1]) + 1e-3)
            q2 = 0.3 * np.sqrt(np.maximum(y[:, 1], 0))
            y = y + dt * np.stack([inflow - q12, q12 - q2], axis=1)
            if (k + 1) % fine == 0:
                levels.append(y.copy())
        clean = np.stack(levels)
        noisy = clean + noise * rng.standard_normal(clean.shape)
        self.levels = torch.as_tensor(noisy, dtype=torch.float32)

    def batches(self, size, generator=None):
        n = self.levels.size(1)
        order = torch.randperm(n, generator=generator) if generator is not None else torch.arange(n)
        for i in range(0, n - size + 1, size):
            yield self.levels[:, order[i:i + size]]
