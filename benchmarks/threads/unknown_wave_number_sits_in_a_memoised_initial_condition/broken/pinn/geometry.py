import torch


class SpaceTime:
    """0 < x < length, 0 < t < horizon. Points are (x, t)."""

    def __init__(self, length, horizon):
        self.length, self.horizon = length, horizon

    def interior(self, n):
        return torch.rand(n, 2) * torch.tensor([self.length, self.horizon])

    def initial(self, n):
        x = torch.linspace(0, self.length, n)
        return torch.stack([x, torch.zeros(n)], 1)

    def left(self, n):
        t = torch.linspace(0, self.horizon, n)
        return torch.stack([torch.zeros(n), t], 1)
