"""
Differential (average reward) actor-critic for a continuing queueing task.
Sutton & Barto, 2nd edition, section 13.6 - one step version with neural nets.
"""
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class AccessControlQueue:
    """customers of 4 priorities ask for one of 5 servers; 0 reject, 1 accept"""

    rewards = [1., 2., 4., 8.]

    def __init__(self, n_servers=5, p_free=0.12, seed=0):
        self.n = n_servers
        self.p = p_free
        self.rng = np.random.RandomState(seed)
        self.free = n_servers
        self.customer = self.rng.randint(4)

    def obs(self):
        x = np.zeros(6, dtype=np.float32)
        x[self.customer] = 1
        x[4] = self.free / self.n
        x[5] = float(self.free == 0)
        return torch.from_numpy(x)

    def step(self, action):
        r = 0.
        if action == 1 and self.free > 0:
            self.free -= 1
            r = self.rewards[self.customer]
        busy = self.n - self.free
        self.free += self.rng.binomial(busy, self.p)
        self.customer = self.rng.randint(4)
        return self.obs(), r


class Agent(object):

    def __init__(self, n_obs, n_act, lr_actor=3e-3, lr_critic=5e-3, eta=0.02):
        self.actor = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh(), nn.Linear(32, n_act))
        self.critic = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh(), nn.Linear(32, 1))
        self.opt_actor = torch.optim.Adam(self.actor.parameters(), lr=lr_actor)
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=lr_critic)
        self.eta = eta
        self.avg_reward = 0.

    def act(self, s):
        self.dist = Categorical(logits=self.actor(s))
        self.a = self.dist.sample()
        return self.a.item()

    def learn(self, s, r, s2):
        with torch.no_grad():
            v2 = self.critic(s2)
        v = self.critic(s)
        delta = r - self.avg_reward + v2 - v

        # R_bar <- R_bar + eta * delta
        self.avg_reward = self.avg_reward + self.eta * delta.item()

        critic_loss = 0.5 * delta.pow(2).mean()
        self.opt_critic.zero_grad()
        critic_loss.backward()
        self.opt_critic.step()

        actor_loss = -(self.dist.log_prob(self.a) * delta.detach()).mean()
        self.opt_actor.zero_grad()
        actor_loss.backward()
        self.opt_actor.step()
        return critic_loss.item()


if __name__ == '__main__':
    torch.manual_seed(5)
    env = AccessControlQueue(seed=5)
    agent = Agent(6, 2)
    s = env.obs()
    total, err = 0., 0.
    for step in range(1, 601):
        a = agent.act(s)
        s2, r = env.step(a)
        err += agent.learn(s, r, s2)
        total += r
        s = s2
        if step % 150 == 0:
            print('step %4d  reward/step %.6f  rbar %.6f  critic %.6f'
                  % (step, total / step, float(agent.avg_reward), err / 150))
            err = 0.
