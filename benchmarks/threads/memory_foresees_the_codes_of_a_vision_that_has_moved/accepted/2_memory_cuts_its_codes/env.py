import numpy as np
import torch


class CatchGrid(object):
    """A ball falls through an 8 x 8 picture, a paddle at the bottom moves left / stays / moves right."""

    def __init__(self, seed=0, size=8):
        self.rng = np.random.RandomState(seed)
        self.size = size

    def reset(self):
        self.ball = [0, self.rng.randint(self.size)]
        self.paddle = self.size // 2
        self.drift = self.rng.randint(-1, 2)
        return self.render()

    def render(self):
        img = np.zeros((self.size, self.size), dtype=np.float32)
        img[self.ball[0], self.ball[1]] = 1.0
        img[-1, self.paddle] = 0.7
        return img.reshape(-1)

    def step(self, a):
        self.paddle = int(np.clip(self.paddle + a - 1, 0, self.size - 1))
        self.ball[0] = min(self.ball[0] + 1, self.size - 1)
        self.ball[1] = int(np.clip(self.ball[1] + self.drift, 0, self.size - 1))
        return self.render()


def random_rollouts(n, length, seed=0):
    """obs: n x (length+1) x 64, actions: n x length x 3 (one hot)"""
    env = CatchGrid(seed)
    obs, acts = [], []
    for _ in range(n):
        o = [env.reset()]
        a = env.rng.randint(0, 3, size=length)
        for t in range(length):
            o.append(env.step(a[t]))
        obs.append(np.stack(o))
        acts.append(np.eye(3, dtype=np.float32)[a])
    return torch.from_numpy(np.stack(obs)), torch.from_numpy(np.stack(acts))
