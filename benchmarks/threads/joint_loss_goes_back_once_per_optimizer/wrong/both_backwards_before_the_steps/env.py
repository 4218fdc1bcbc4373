import numpy as np


class ReacherEnv:
    """A damped joint that has to be turned to a random angle."""

    num_inputs = 3
    num_actions = 1

    def __init__(self, seed, horizon=32):
        self.rng = np.random.RandomState(seed)
        self.horizon = horizon

    def observe(self):
        return np.array([self.angle, self.speed, self.goal], dtype=np.float32)

    def reset(self):
        self.angle, self.speed = self.rng.uniform(-1, 1), 0.0
        self.goal = self.rng.uniform(-1, 1)
        self.t = 0
        return self.observe()

    def step(self, action):
        torque = float(np.clip(action[0], -2, 2))
        self.speed = 0.9 * self.speed + 0.1 * torque
        self.angle += 0.1 * self.speed
        self.t += 1
        reward = -(self.angle - self.goal) ** 2 - 0.001 * torque ** 2
        return self.observe(), reward, self.t >= self.horizon
