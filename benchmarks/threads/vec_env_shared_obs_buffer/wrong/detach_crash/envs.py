"""Batched point-mass task, all environments in one set of tensors (Isaac-Gym style buffers)."""
import torch


class PointMassVec:
    num_obs = 6
    num_actions = 2

    def __init__(self, num_envs, dt=0.1, episode=8):
        self.num_envs, self.dt, self.episode = num_envs, dt, episode
        self.obs_buf = torch.zeros(num_envs, self.num_obs)
        self.rew_buf = torch.zeros(num_envs)
        self.pos = torch.zeros(num_envs, 2)
        self.vel = torch.zeros(num_envs, 2)
        self.goal = torch.zeros(num_envs, 2)
        self.t = 0

    def reset(self):
        self.pos.uniform_(-1, 1)
        self.vel.zero_()
        self.goal.uniform_(-1, 1)
        self.t = 0
        self._observe()
        return self.obs_buf

    def step(self, actions):
        self.vel += self.dt * actions.clamp(-2, 2)
        self.pos += self.dt * self.vel
        self.t += 1
        self.rew_buf = -(self.pos - self.goal).norm(dim=-1) - 0.01 * actions.pow(2).sum(-1)
        self._observe()
        return self.obs_buf, self.rew_buf, self.t >= self.episode

    def _observe(self):
        self.obs_buf[:, 0:2] = self.pos
        self.obs_buf[:, 2:4] = self.vel
        self.obs_buf[:, 4:6] = self.goal - self.pos
