import numpy as np


class AccessControl(object):
    """Access-control queue (a continuing task): servers, customers with priorities, accept or reject."""
    n_servers = 5
    priorities = (1., 2., 4., 8.)
    p_free = 0.12

    def __init__(self, seed=0):
        self.rng = np.random.RandomState(seed)
        self.free = self.n_servers
        self.customer = self.rng.randint(4)

    def observe(self):
        obs = np.zeros(self.n_servers + 1 + 4 + 1, dtype=np.float32)
        obs[self.free] = 1.
        obs[self.n_servers + 1 + self.customer] = 1.
        obs[-1] = self.free / self.n_servers * self.priorities[self.customer] / 8.
        return obs

    def step(self, action):
        reward = 0.
        if action == 1 and self.free > 0:
            self.free -= 1
            reward = self.priorities[self.customer]
        busy = self.n_servers - self.free
        self.free += self.rng.binomial(busy, self.p_free)
        self.customer = self.rng.randint(4)
        return self.observe(), reward
