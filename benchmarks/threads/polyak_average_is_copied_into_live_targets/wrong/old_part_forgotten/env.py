import numpy as np


class Thermostat:
    """Keep a room near 20 degrees: 0 = off, 1 = heat, 2 = cool."""
    obs_dim, n_actions = 3, 3

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.temp, self.outside, self.last = 16.0 + 8 * self.rng.rand(), 10.0 + 15 * self.rng.rand(), 0
        return self._obs()

    def _obs(self):
        return np.array([(self.temp - 20) / 5, (self.outside - 20) / 10, self.last - 1.0], dtype=np.float32)

    def step(self, action):
        self.temp += 0.1 * (self.outside - self.temp) + {0: 0.0, 1: 1.2, 2: -1.2}[action] + 0.1 * self.rng.randn()
        cost = abs(self.temp - 20) / 5 + (0.1 if action else 0.0)
        self.last = action
        return self._obs(), -cost, False
