import torch


class Rooms:
    """Two 4x4 rooms with one door, goal in the far corner of the second room."""
    n_actions = 4
    n_obs = 32

    def reset(self):
        self.x, self.y = 0, 0
        return self.obs()

    def obs(self):
        o = torch.zeros(self.n_obs)
        o[self.y * 8 + self.x] = 1.0
        return o

    def step(self, a):
        dx, dy = ((1, 0), (-1, 0), (0, 1), (0, -1))[a]
        x, y = min(max(self.x + dx, 0), 7), min(max(self.y + dy, 0), 3)
        if {self.x, x} == {3, 4} and y != 2:
            x, y = self.x, self.y
        self.x, self.y = x, y
        r = 1.0 if (x, y) == (7, 3) else 0.0
        return self.obs(), r
