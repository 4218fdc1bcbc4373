import torch
import torch.nn.functional as F


class Grid:
    """States are cells, actions raise one coordinate; the reward has a mode in two corners."""

    def __init__(self, side, dims, n):
        self.side, self.dims, self.n = side, dims, n
        self.obs_dim = side * dims
        self.reset()

    def reset(self):
        self.state = torch.zeros(self.n, self.dims, dtype=torch.long)
        return self.obs()

    def obs(self):
        return F.one_hot(self.state, self.side).float().flatten(1)

    def mask(self):
        """which actions are allowed: the coordinates that can still grow, and stop"""
        return torch.cat([self.state < self.side - 1, torch.ones(self.n, 1, dtype=torch.bool)], 1)

    def step(self, action):
        grow = F.one_hot(action.clamp(max=self.dims - 1), self.dims)
        self.state = torch.minimum(self.state + grow, torch.tensor(self.side - 1))
        return self.obs()

    def parents(self):
        return self.state > 0

    def log_reward(self):
        x = self.state.float() / (self.side - 1) * 2 - 1
        return torch.log(0.05 + (x.abs() > 0.4).all(1).float() + 0.3 * (x.abs() > 0.9).any(1).float())
