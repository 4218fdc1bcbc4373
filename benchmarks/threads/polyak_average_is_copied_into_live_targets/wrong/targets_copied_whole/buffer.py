import random
from collections import deque

import numpy as np


class ReplayBuffer:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)
        self.rng = random.Random(0)

    def __len__(self):
        return len(self.memory)

    def add(self, obs, action, reward, nxt, done):
        self.memory.append((obs, action, reward, nxt, float(done)))

    def sample(self, n):
        return [np.array(column, dtype=np.float32) for column in zip(*self.rng.sample(list(self.memory), n))]
