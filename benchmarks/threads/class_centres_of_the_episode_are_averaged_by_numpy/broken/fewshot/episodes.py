import numpy as np
import torch


class BirdCalls:
    """Synthetic mel spectrograms: each species sweeps through the bands in its own way."""

    def __init__(self, species, per_species=16, n_mels=12, frames=24, seed=0):
        rng = np.random.default_rng(seed)
        bands, time = np.arange(n_mels)[:, None], np.arange(frames)[None]
        self.calls = {}
        for s in species:
            start, slope, rate = 2 + s % 5, 0.25 * ((s * 7) % 5 - 2), 0.3 + 0.15 * (s % 4)
            track = start + slope * time / 2 + 1.5 * np.sin(rate * time)
            clean = np.exp(-0.5 * (bands - track) ** 2)
            noisy = clean[None] + 0.4 * rng.standard_normal((per_species, n_mels, frames))
            self.calls[s] = noisy.astype(np.float32)


class EpisodeSampler:
    def __init__(self, data, way, per_class, episodes, seed):
        self.data, self.way, self.per_class, self.episodes = data, way, per_class, episodes
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return self.episodes

    def __iter__(self):
        species = sorted(self.data.calls)
        for _ in range(self.episodes):
            calls, labels = [], []
            for s in self.rng.choice(species, self.way, replace=False):
                pick = self.rng.choice(len(self.data.calls[s]), self.per_class, replace=False)
                calls.append(self.data.calls[s][pick])
                labels += [int(s)] * self.per_class
            yield torch.from_numpy(np.concatenate(calls)), torch.tensor(labels)
