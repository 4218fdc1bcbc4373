import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from pendulum import Pendulum


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super().__init__()
        self.l1 = nn.Linear(state_dim, 256)
        self.l2 = nn.Linear(256, 256)
        self.l3 = nn.Linear(256, action_dim)
        self.max_action = max_action

    def forward(self, state):
        a = F.relu(self.l1(state))
        a = F.relu(self.l2(a))
        return self.max_action * torch.tanh(self.l3(a))


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(state_dim + action_dim, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
        self.q2 = nn.Sequential(nn.Linear(state_dim + action_dim, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, state, action):
        sa = torch.cat([state, action], 1)
        return self.q1(sa), self.q2(sa)


class ReplayBuffer:
    def __init__(self, size=100000):
        self.storage, self.size = [], size

    def add(self, *transition):
        if len(self.storage) == self.size:
            self.storage.pop(0)
        self.storage.append(transition)

    def sample(self, batch_size):
        picked = [self.storage[i] for i in np.random.randint(0, len(self.storage), size=batch_size)]
        return [torch.as_tensor(np.array(column), dtype=torch.float32) for column in zip(*picked)]


class TD3:
    def __init__(self, state_dim, action_dim, max_action, discount=0.99, tau=0.005, policy_noise=0.2, noise_clip=0.5, policy_freq=2):
        self.actor = Actor(state_dim, action_dim, max_action)
        self.actor_target = copy.deepcopy(self.actor)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic = Critic(state_dim, action_dim)
        self.critic_target = copy.deepcopy(self.critic)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.max_action, self.discount, self.tau = max_action, discount, tau
        self.policy_noise, self.noise_clip, self.policy_freq = policy_noise, noise_clip, policy_freq
        self.total_it = 0

    def select_action(self, state):
        state = torch.FloatTensor(state.reshape(1, -1))
        return self.actor(state).cpu().numpy().flatten()

    def train(self, replay_buffer, batch_size=256):
        self.total_it += 1
        state, action, next_state, reward, not_done = replay_buffer.sample(batch_size)
        with torch.no_grad():
            noise = (torch.randn_like(action) * self.policy_noise).clamp(-self.noise_clip, self.noise_clip)
            next_action = (self.actor_target(next_state) + noise).clamp(-self.max_action, self.max_action)
            target_q1, target_q2 = self.critic_target(next_state, next_action)
            target_q = reward + not_done * self.discount * torch.min(target_q1, target_q2)
        current_q1, current_q2 = self.critic(state, action)
        critic_loss = F.mse_loss(current_q1, target_q) + F.mse_loss(current_q2, target_q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        if self.total_it % self.policy_freq == 0:
            actor_loss = -self.critic.q1(torch.cat([state, self.actor(state)], 1)).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            for net, target in ((self.critic, self.critic_target), (self.actor, self.actor_target)):
                for param, target_param in zip(net.parameters(), target.parameters()):
                    target_param.data.copy_(self.tau * param.data + (1 - self.tau) * target_param.data)


def eval_policy(policy, seed, eval_episodes=10):
    eval_env = Pendulum(seed=seed + 100)
    avg_reward = 0.0
    for _ in range(eval_episodes):
        state, done = eval_env.reset(), False
        while not done:
            action = policy.select_action(np.array(state))
            state, reward, done, _ = eval_env.step(action)
            avg_reward += reward
    print(f"Evaluation over {eval_episodes} episodes: {avg_reward / eval_episodes:.3f}")
    return avg_reward / eval_episodes


if __name__ == "__main__":
    torch.manual_seed(0)
    np.random.seed(0)
    env = Pendulum()
    policy = TD3(env.state_dim, env.action_dim, env.max_action)
    replay_buffer = ReplayBuffer()
    evaluations = [eval_policy(policy, 0)]
    state, done = env.reset(), False
    episode_reward, episode_num = 0, 0
    for t in range(30000):
        if t < 10000:
            action = env.sample()
        else:
            action = (policy.select_action(np.array(state)) + np.random.normal(0, 0.2, size=1)).clip(-2.0, 2.0)
        next_state, reward, done, _ = env.step(action)
        replay_buffer.add(state, action, next_state, [reward], [1.0 - float(done)])
        state = next_state
        episode_reward += reward
        if t >= 10000:
            policy.train(replay_buffer)
        if done:
            print(f"Total T: {t + 1} Episode Num: {episode_num + 1} Reward: {episode_reward:.3f}")
            state, done = env.reset(), False
            episode_reward, episode_num = 0, episode_num + 1
        if (t + 1) % 5000 == 0:
            evaluations.append(eval_policy(policy, 0))
