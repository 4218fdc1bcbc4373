"""A pendulum, integrated in small steps: an environment that costs about what a simulator's does."""

import math

import numpy as np


class Pendulum:
    def __init__(self, horizon=200, substeps=80, seed=0, discrete=False):
        self.horizon, self.substeps, self.discrete = horizon, substeps, discrete
        self.random = np.random.RandomState(seed)
        self.state_dim, self.action_dim, self.max_action = 3, 1, 2.0

    def reset(self):
        self.angle, self.speed = self.random.uniform(-math.pi, math.pi), self.random.uniform(-1.0, 1.0)
        self.time = 0
        return self.observe()

    def observe(self):
        return np.array([math.cos(self.angle), math.sin(self.angle), self.speed / 8.0], dtype=np.float32)

    def sample(self):
        return self.random.randint(3) if self.discrete else self.random.uniform(-2.0, 2.0, size=1).astype(np.float32)

    def step(self, action):
        torque = (-2.0, 0.0, 2.0)[int(action)] if self.discrete else float(np.clip(np.ravel(action)[0], -2.0, 2.0))
        reward = -(self.angle**2 + 0.1 * self.speed**2 + 0.001 * torque**2)
        part = 0.05 / self.substeps
        for _ in range(self.substeps):
            self.speed += (15.0 * math.sin(self.angle) + 3.0 * torque) * part
            self.speed = max(-8.0, min(8.0, self.speed))
            self.angle += self.speed * part
        self.angle = (self.angle + math.pi) % (2 * math.pi) - math.pi
        self.time += 1
        return self.observe(), reward, self.time >= self.horizon, {}
