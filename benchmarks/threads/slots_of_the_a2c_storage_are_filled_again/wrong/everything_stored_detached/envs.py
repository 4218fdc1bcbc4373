import torch


class VecReach(object):
    """Many little tasks in parallel: walk on a line towards a goal that stays for ten steps."""

    obs_size = 3
    num_actions = 3

    def __init__(self, num_processes, horizon=10):
        self.n = num_processes
        self.horizon = horizon

    def reset(self):
        self.t = torch.zeros(self.n)
        self.pos = torch.zeros(self.n)
        self.goal = torch.randn(self.n)
        return self._obs()

    def _obs(self):
        return torch.stack([self.pos, self.goal, self.t / self.horizon], dim=1)

    def step(self, action):
        self.pos = self.pos + 0.3 * (action.squeeze(1).float() - 1.0)
        self.t = self.t + 1
        reward = -(self.pos - self.goal).abs()
        done = self.t >= self.horizon
        self.pos = torch.where(done, torch.zeros(self.n), self.pos)
        self.goal = torch.where(done, torch.randn(self.n), self.goal)
        self.t = torch.where(done, torch.zeros(self.n), self.t)
        return self._obs(), reward.unsqueeze(1), (~done).float().unsqueeze(1)
