import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

# Twin Delayed DDPG, see Fujimoto et al.; here on a little torque-limited swing


class Swing:
    max_action = 2.0

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.th, self.w, self.n = self.rng.uniform(-3, 3), self.rng.uniform(-1, 1), 0
        return self.state()

    def state(self):
        return np.array([np.cos(self.th), np.sin(self.th), self.w], dtype=np.float32)

    def step(self, u):
        u = float(np.clip(u, -self.max_action, self.max_action))
        cost = self.th ** 2 + 0.1 * self.w ** 2 + 0.001 * u ** 2
        self.w = float(np.clip(self.w + (15 * np.sin(self.th) + 3 * u) * 0.05, -8, 8))
        self.th = (self.th + self.w * 0.05 + np.pi) % (2 * np.pi) - np.pi
        self.n += 1
        return self.state(), -cost, self.n >= 25


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super(Actor, self).__init__()
        self.l1 = nn.Linear(state_dim, 32)
        self.l2 = nn.Linear(32, 32)
        self.l3 = nn.Linear(32, action_dim)
        self.max_action = max_action

    def forward(self, state):
        a = F.relu(self.l1(state))
        a = F.relu(self.l2(a))
        a = torch.tanh(self.l3(a))
        return self.max_action * a.detach()


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super(Critic, self).__init__()
        self.q1 = nn.Sequential(nn.Linear(state_dim + action_dim, 32), nn.ReLU(), nn.Linear(32, 1))
        self.q2 = nn.Sequential(nn.Linear(state_dim + action_dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, state, action):
        sa = torch.cat([state, action], 1)
        return self.q1(sa), self.q2(sa)

    def Q1(self, state, action):
        return self.q1(torch.cat([state, action], 1))


class ReplayBuffer(object):
    def __init__(self, seed):
        self.storage = []
        self.rng = np.random.RandomState(seed)

    def add(self, *transition):
        self.storage.append(transition)

    def sample(self, n):
        rows = [self.storage[i] for i in self.rng.randint(0, len(self.storage), n)]
        cols = [torch.from_numpy(np.array(c, dtype=np.float32)) for c in zip(*rows)]
        return [c if c.dim() > 1 else c.unsqueeze(1) for c in cols]


class TD3(object):
    def __init__(self, state_dim, action_dim, max_action, discount=0.98, tau=0.01,
                 policy_noise=0.2, noise_clip=0.5, policy_freq=2):
        self.actor = Actor(state_dim, action_dim, max_action)
        self.actor_target = copy.deepcopy(self.actor)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic = Critic(state_dim, action_dim)
        self.critic_target = copy.deepcopy(self.critic)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.max_action, self.discount, self.tau = max_action, discount, tau
        self.policy_noise, self.noise_clip, self.policy_freq = policy_noise * max_action, noise_clip * max_action, policy_freq
        self.total_it = 0

    def select_action(self, state):
        with torch.no_grad():
            return self.actor(torch.from_numpy(state).unsqueeze(0)).numpy().flatten()

    def train(self, replay_buffer, batch_size=32):
        self.total_it += 1
        state, action, next_state, reward, not_done = replay_buffer.sample(batch_size)

        with torch.no_grad():
            noise = (torch.randn_like(action) * self.policy_noise).clamp(-self.noise_clip, self.noise_clip)
            next_action = (self.actor_target(next_state) + noise).clamp(-self.max_action, self.max_action)
            target_Q1, target_Q2 = self.critic_target(next_state, next_action)
            target_Q = reward + not_done * self.discount * torch.min(target_Q1, target_Q2)

        current_Q1, current_Q2 = self.critic(state, action)
        critic_loss = F.mse_loss(current_Q1, target_Q) + F.mse_loss(current_Q2, target_Q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        # Delayed policy updates
        if self.total_it % self.policy_freq == 0:
            actor_loss = -self.critic.Q1(state, self.actor(state)).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()

            for net, target in ((self.critic, self.critic_target), (self.actor, self.actor_target)):
                for param, target_param in zip(net.parameters(), target.parameters()):
                    target_param.data.copy_(self.tau * param.data + (1 - self.tau) * target_param.data)
        return critic_loss.item()


if __name__ == "__main__":
    torch.manual_seed(3)
    env = Swing(3)
    agent = TD3(3, 1, env.max_action)
    memory = ReplayBuffer(3)
    noise = np.random.RandomState(5)
    state, ep_reward = env.reset(), 0.0
    for t in range(75):
        action = (agent.select_action(state) + noise.normal(0, 0.2, 1)).clip(-2, 2).astype(np.float32)
        next_state, reward, done = env.step(action[0])
        memory.add(state, action, next_state, reward, 1.0 - float(done))
        state, ep_reward = next_state, ep_reward + reward
        loss = agent.train(memory) if t >= 40 else 0.0
        if done:
            print("T %d  reward %.3f  critic loss %.4f" % (t + 1, ep_reward, loss))
            state, ep_reward = env.reset(), 0.0
