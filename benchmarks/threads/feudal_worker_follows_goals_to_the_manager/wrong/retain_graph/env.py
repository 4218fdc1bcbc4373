import torch


class PointWorld:
    """n points on a plane walk in four directions; the nearer to their flag the better."""

    obs_dim, n_actions = 4, 4
    moves = torch.tensor([[0.3, 0.0], [-0.3, 0.0], [0.0, 0.3], [0.0, -0.3]])

    def __init__(self, n, length):
        self.n, self.length = n, length

    def reset(self):
        self.pos = torch.randn(self.n, 2)
        self.flag = torch.randn(self.n, 2)
        return torch.cat([self.pos, self.flag], 1)

    def step(self, action):
        before = (self.pos - self.flag).norm(dim=1)
        self.pos = self.pos + self.moves[action]
        return torch.cat([self.pos, self.flag], 1), before - (self.pos - self.flag).norm(dim=1)
