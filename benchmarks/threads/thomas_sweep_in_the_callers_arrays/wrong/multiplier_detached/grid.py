import torch


class Grid:
    def __init__(self, s_max, n, t_end, steps):
        self.s = torch.linspace(0.0, s_max, n + 1)
        self.ds = s_max / n
        self.dt = t_end / steps
        self.steps = steps
