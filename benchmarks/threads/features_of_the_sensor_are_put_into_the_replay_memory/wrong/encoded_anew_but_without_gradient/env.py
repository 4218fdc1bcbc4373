import numpy as np


class Corridor:
    """a corridor of 7 fields seen through a noisy sensor; the goal is at the right end"""
    n_obs = 10
    n_actions = 2

    def __init__(self, seed=0, length=7, max_steps=15):
        self.rng = np.random.RandomState(seed)
        self.length, self.max_steps = length, max_steps
        self.sensor = self.rng.randn(length, self.n_obs).astype(np.float32)

    def _obs(self):
        return self.sensor[self.pos] + 0.1 * self.rng.randn(self.n_obs).astype(np.float32)

    def reset(self):
        self.pos, self.t = 2, 0
        return self._obs()

    def step(self, action):
        self.pos = int(np.clip(self.pos + (1 if action == 1 else -1), 0, self.length - 1))
        self.t += 1
        done = self.pos == self.length - 1 or self.t >= self.max_steps
        reward = 1.0 if self.pos == self.length - 1 else -0.05
        return self._obs(), reward, done
