from collections import namedtuple

import numpy as np
import torch

Task = namedtuple('Task', 'x_spt y_spt x_qry y_qry')


class SinusoidTasks(object):
    def __init__(self, k_shot):
        self.k_shot = k_shot

    def sample(self, n):
        for _ in range(n):
            amp, phase = np.random.uniform(0.5, 2.5), np.random.uniform(0, np.pi)
            x = np.random.uniform(-3, 3, size=(2 * self.k_shot, 1)).astype('float32')
            y = (amp * np.sin(x - phase)).astype('float32')
            x, y = torch.from_numpy(x), torch.from_numpy(y)
            k = self.k_shot
            yield Task(x[:k], y[:k], x[k:], y[k:])
