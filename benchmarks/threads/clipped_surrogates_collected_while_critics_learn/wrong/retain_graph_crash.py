#PPO from scratch, 每一步更新 V 和 Q, 回合结束时更新策略
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical
import random


class GridEnv:
    '''1-D walk, goal at the right end'''
    def __init__(self, n=6):
        self.n = n

    def reset(self):
        self.pos = 1
        self.steps = 0
        return self.obs()

    def obs(self):
        v = torch.zeros(self.n)
        v[self.pos] = 1.
        return v

    def step(self, action):
        self.pos = max(0, min(self.n - 1, self.pos + (1 if action == 1 else -1)))
        self.steps += 1
        done = self.pos == self.n - 1 or self.steps >= 8
        reward = 1.0 if self.pos == self.n - 1 else -0.05
        return self.obs(), reward, done


class ValueFunction(nn.Module):
    def __init__(self, in_dim, out_dim, lr):
        super(ValueFunction, self).__init__()
        self.net = nn.Sequential(nn.Linear(in_dim, 20), nn.Tanh(), nn.Linear(20, out_dim))
        self.optimizer = optim.SGD(self.parameters(), lr=lr)

    def forward(self, s):
        return self.net(s)

    def MSE_loss(self, prediction, target):
        return ((prediction - target) ** 2).mean()

    def SGD(self, loss):
        self.optimizer.zero_grad()
        loss.backward(retain_graph=True)
        self.optimizer.step()


class PolicyNetwork(nn.Module):
    def __init__(self, in_dim, n_actions, lr, epsilon=0.2):
        super(PolicyNetwork, self).__init__()
        self.net = nn.Sequential(nn.Linear(in_dim, 20), nn.Tanh(), nn.Linear(20, n_actions))
        self.epsilon = epsilon
        self.optimizer = optim.Adam(self.parameters(), lr=lr)

    def forward(self, s):
        return Categorical(logits=self.net(s))

    def clipped_surrogate(self, ratio, advantage):
        unclipped = ratio * advantage
        clipped = torch.clamp(ratio, 1 - self.epsilon, 1 + self.epsilon) * advantage
        return torch.min(unclipped, clipped)

    def SGA(self, surrogates):
        objective = torch.stack(surrogates).mean()
        self.optimizer.zero_grad()
        (-objective).backward()
        self.optimizer.step()
        return objective.item()


class Agent:
    def __init__(self, n_obs, n_actions=2, gamma=0.97):
        self.gamma = gamma
        self.policy = PolicyNetwork(n_obs, n_actions, lr=0.01)
        self.old_policy = PolicyNetwork(n_obs, n_actions, lr=0.01)
        self.V = ValueFunction(n_obs, 1, lr=0.05)
        self.Q = ValueFunction(n_obs, n_actions, lr=0.05)
        self.old_policy.load_state_dict(self.policy.state_dict())

    def act(self, state):
        with torch.no_grad():
            return self.old_policy(state).sample()

    def ratio(self, state, action):
        with torch.no_grad():
            old = self.old_policy(state).log_prob(action)
        return torch.exp(self.policy(state).log_prob(action) - old)

    def td_target(self, reward, next_state, done):
        with torch.no_grad():
            bootstrap = 0. if done else self.gamma * self.V(next_state).squeeze()
        return reward + bootstrap

    def advantage(self, q, v):
        # A(s,a) = Q(s,a) - V(s)
        return q - v

    def observe(self, state, action, reward, next_state, done):
        v = self.V(state).squeeze(0)
        q = self.Q(state)[action]
        target = self.td_target(reward, next_state, done)
        A = self.advantage(q, v)
        surrogate = self.policy.clipped_surrogate(self.ratio(state, action), A)
        # update both critics on this transition
        self.V.SGD(self.V.MSE_loss(v, target))
        self.Q.SGD(self.Q.MSE_loss(q, target))
        return surrogate


def train(episodes=6, seed=4):
    torch.manual_seed(seed)
    random.seed(seed)
    env = GridEnv()
    agent = Agent(env.n)
    for ep in range(episodes):
        state, done, total, surrogates = env.reset(), False, 0., []
        while not done:
            action = agent.act(state)
            next_state, reward, done = env.step(action.item())
            surrogates.append(agent.observe(state, action, reward, next_state, done))
            state = next_state
            total += reward
        if ep % 3 == 2:
            agent.old_policy.load_state_dict(agent.policy.state_dict())
        objective = agent.policy.SGA(surrogates)
        print('episode', ep, 'return %.2f' % total, 'objective %.6f' % objective)


if __name__ == '__main__':
    train()
