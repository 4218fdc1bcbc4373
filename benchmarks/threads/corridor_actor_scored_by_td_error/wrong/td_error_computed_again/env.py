import numpy as np


class Corridor:
    """一维走廊: 智能体从中间出发, 走到右端得 1 分, 每步扣一点分"""

    def __init__(self, length=7, seed=0):
        self.length = length
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.pos = self.length // 2
        self.steps = 0
        return self._obs()

    def _obs(self):
        x = self.pos / (self.length - 1)
        return np.array([x, 1 - x, np.sin(3 * x)], dtype=np.float32)

    def step(self, action):
        move = 1 if action == 1 else -1
        if self.rng.rand() < 0.1:
            move = -move
        self.pos = int(np.clip(self.pos + move, 0, self.length - 1))
        self.steps += 1
        goal = self.pos == self.length - 1
        done = goal or self.steps >= 8
        return self._obs(), (1.0 if goal else -0.05), done
