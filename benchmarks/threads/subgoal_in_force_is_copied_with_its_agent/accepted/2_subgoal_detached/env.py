import numpy as np


class PointRoom(object):
    """A point that has to go to a goal in the unit square."""

    def __init__(self, seed, limit=30):
        self.rng = np.random.RandomState(seed)
        self.limit = limit

    def reset(self):
        self.pos = self.rng.uniform(-1, 1, size=2)
        self.goal = self.rng.uniform(-1, 1, size=2)
        self.t = 0
        return self.pos.copy(), self.goal.copy()

    def step(self, action):
        self.pos = np.clip(self.pos + 0.2 * np.clip(action, -1, 1), -1.5, 1.5)
        self.t += 1
        dist = np.linalg.norm(self.pos - self.goal)
        return self.pos.copy(), -dist, bool(dist < 0.1 or self.t >= self.limit)
