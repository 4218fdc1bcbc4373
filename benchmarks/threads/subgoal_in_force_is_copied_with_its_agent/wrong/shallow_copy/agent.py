import copy

import torch
import torch.nn.functional as F

from models import Actor, Critic, OUNoise, ReplayBuffer


class Controller(object):
    """one level of the hierarchy: DDPG"""

    def __init__(self, s_dim, g_dim, a_dim, scale, gamma, seed):
        self.actor = Actor(s_dim + g_dim, a_dim, scale)
        self.critic = Critic(s_dim + g_dim + a_dim)
        self.actor_target = copy.deepcopy(self.actor)
        self.critic_target = copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=2e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=5e-3)
        self.buffer = ReplayBuffer(seed)
        self.gamma = gamma

    def policy(self, state, goal):
        return self.actor(state, goal)

    def train(self, batch_size=32, tau=0.05):
        s, g, a, r, ns, ng, not_done = self.buffer.sample(batch_size)
        with torch.no_grad():
            target = r + self.gamma * not_done * self.critic_target(ns, ng, self.actor_target(ns, ng))
        critic_loss = F.smooth_l1_loss(self.critic(s, g, a), target)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actor_loss = -self.critic(s, g, self.actor(s, g)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        with torch.no_grad():
            for net, old in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
                for p, q in zip(net.parameters(), old.parameters()):
                    q.lerp_(p, tau)
        return critic_loss.item(), actor_loss.item()


class HiroAgent(object):
    def __init__(self, c=5, start_training=40):
        self.c = c
        self.start_training = start_training
        self.high_con = Controller(2, 2, 2, scale=0.8, gamma=0.95, seed=1)
        self.low_con = Controller(2, 2, 2, scale=1.0, gamma=0.9, seed=2)
        self.high_noise = OUNoise(2, 0.2)
        self.low_noise = OUNoise(2, 0.2)
        self.steps = 0

    def reset(self, s, goal, explore=True):
        self.goal = torch.tensor(goal, dtype=torch.float32)
        self.high_noise.reset()
        self.low_noise.reset()
        self.high_start, self.high_reward = s, 0.0
        self.new_subgoal(s, explore)

    def new_subgoal(self, s, explore):
        state = torch.tensor(s, dtype=torch.float32)
        self.sg = self.high_con.policy(state, self.goal)
        if explore:
            self.sg = self.sg + self.high_noise()
        self.first_sg = self.sg
        self.t_sg = 0

    def choose_action(self, s, explore=True):
        with torch.no_grad():
            a = self.low_con.policy(torch.tensor(s, dtype=torch.float32), self.sg)
        if explore:
            a = a + self.low_noise()
        return a.clamp(-1, 1)

    def next_subgoal(self, s, ns):
        # the same absolute place, seen from the next state
        return torch.tensor(s, dtype=torch.float32) + self.sg - torch.tensor(ns, dtype=torch.float32)

    def observe(self, s, a, r, ns, done, explore=True):
        n_sg = self.next_subgoal(s, ns)
        self.t_sg += 1
        self.high_reward += r
        if explore:
            self.steps += 1
            intrinsic = -n_sg.norm().item()
            self.low_con.buffer.append(s, self.sg.tolist(), a.tolist(), intrinsic, ns, n_sg.tolist(), 1.0)
            if self.t_sg == self.c or done:
                self.high_con.buffer.append(self.high_start, self.goal.tolist(), self.first_sg.tolist(),
                                            self.high_reward, ns, self.goal.tolist(), 1.0 - float(done))
        self.sg = n_sg
        if self.t_sg == self.c:
            self.high_start, self.high_reward = ns, 0.0
            self.new_subgoal(ns, explore)

    def train(self):
        if self.steps < self.start_training:
            return {}
        losses = {'low': self.low_con.train()}
        if self.steps % self.c == 0:
            losses['high'] = self.high_con.train()
        return losses
