import numpy as np


class Field:
    """Player and ball on a line of length 1; kick only works near the ball."""
    n_state, n_actions, max_steps = 4, 3, 20

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def _state(self):
        return np.array([self.x, self.ball, np.cos(self.heading), np.sin(self.heading)], dtype=np.float32)

    def reset(self):
        self.x, self.ball = self.rng.uniform(0, 0.4), self.rng.uniform(0.4, 0.7)
        self.heading, self.t = self.rng.uniform(-1.0, 1.0), 0
        return self._state()

    def step(self, act, param):
        self.t += 1
        before = abs(self.x - self.ball)
        param = float(np.clip(param, -1, 1))
        reward = 0.0
        if act == 0:
            self.x = float(np.clip(self.x + 0.1 * param * np.cos(self.heading), 0, 1))
        elif act == 1:
            self.heading += param
        elif before < 0.15:
            gain = 0.3 * max(0.0, param) * np.cos(self.heading)
            self.ball = float(np.clip(self.ball + gain, 0, 1))
            reward += 2 * gain
        reward += before - abs(self.x - self.ball)
        goal = self.ball >= 0.95
        return self._state(), reward + float(goal), goal or self.t >= self.max_steps
