import math

import torch


class Sinusoids:
    """regression tasks of Finn et al., amplitude in [0.1, 5], phase in [0, pi]"""

    def __init__(self, k_shot=5, k_query=10):
        self.k_shot, self.k_query = k_shot, k_query

    def sample(self):
        amp = 0.1 + 4.9 * torch.rand(1)
        phase = math.pi * torch.rand(1)
        x = 10 * torch.rand(self.k_shot + self.k_query, 1) - 5
        y = amp * torch.sin(x - phase)
        k = self.k_shot
        return (x[:k], y[:k]), (x[k:], y[k:])

    def batch(self, n):
        return [self.sample() for _ in range(n)]
