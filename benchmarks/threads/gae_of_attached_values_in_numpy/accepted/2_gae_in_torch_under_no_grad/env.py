import numpy as np


class VecPendulumLike:
    """n independent noisy linear oscillators with three discrete torques"""
    obs_dim, n_actions = 2, 3

    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.s = rng.normal(size=(n, 2))
        self.t = np.zeros(n, dtype=int)

    def observe(self):
        return self.s.astype(np.float32).copy()

    def step(self, actions):
        u = (actions - 1) * 0.5
        pos, vel = self.s[:, 0], self.s[:, 1]
        vel = 0.95 * vel - 0.2 * pos + u + 0.05 * self.rng.normal(size=self.n)
        self.s = np.stack([pos + 0.2 * vel, vel], 1)
        self.t += 1
        reward = -(self.s ** 2).sum(1) - 0.01 * u ** 2
        done = (self.t >= 14) | (np.abs(self.s[:, 0]) > 4)
        self.s[done] = self.rng.normal(size=(int(done.sum()), 2))
        self.t[done] = 0
        return self.observe(), reward.astype(np.float32), done.astype(np.float32)
