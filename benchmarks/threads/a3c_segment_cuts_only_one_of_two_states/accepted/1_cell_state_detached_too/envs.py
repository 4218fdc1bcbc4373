import torch


class DriftEnv:
    """A point drifts on a line, the drift is hidden and changes sign now and then; push it back to 0."""

    obs_dim = 2
    n_actions = 3

    def __init__(self, seed, max_len):
        self.rng = torch.Generator().manual_seed(seed)
        self.max_len = max_len

    def reset(self):
        self.x = torch.rand(1, generator=self.rng).item() * 2 - 1
        self.drift = 0.15
        self.t = 0
        return self._obs()

    def _obs(self):
        return torch.tensor([self.x, self.t / self.max_len])

    def step(self, action):
        if torch.rand(1, generator=self.rng).item() < 0.1:
            self.drift = -self.drift
        self.x += self.drift + (action - 1) * 0.2
        self.t += 1
        done = abs(self.x) > 2.5
        return self._obs(), 1.0 - abs(self.x), done
