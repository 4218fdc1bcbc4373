import numpy as np


class SineMarket:
    """hold / buy / sell on a noisy wave, reward is the change of the position's value"""

    n_actions = 3

    def __init__(self, window, length):
        self.window, self.length = window, length
        self.state_size = window + 1

    def reset(self):
        t = np.arange(self.length + self.window + 1)
        self.prices = 10 + np.sin(t / 3.0 + np.random.rand() * 6) + 0.1 * np.random.randn(len(t))
        self.t, self.position = self.window, 0
        return self._state()

    def _state(self):
        diffs = np.diff(self.prices[self.t - self.window : self.t + 1])
        return np.append(diffs, self.position).astype(np.float32)

    def step(self, action):
        if action == 1:
            self.position = 1
        elif action == 2:
            self.position = 0
        self.t += 1
        reward = float(self.position * (self.prices[self.t] - self.prices[self.t - 1]))
        done = self.t == self.length + self.window
        return self._state(), reward, done
