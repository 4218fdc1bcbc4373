import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class GridWorld:
    def __init__(self, size=4, seed=0):
        self.size, self.rng = size, random.Random(seed)

    def reset(self):
        self.pos, self.goal, self.t = 0, self.rng.randrange(1, self.size), 0
        return self.state()

    def state(self):
        s = torch.zeros(2 * self.size)
        s[self.pos] = s[self.size + self.goal] = 1
        return s

    def step(self, a):
        self.pos = min(self.size - 1, max(0, self.pos + (1 if a else -1)))
        self.t += 1
        done = self.pos == self.goal or self.t >= 8
        return self.state(), 1.0 if self.pos == self.goal else -0.05, done


class Policy(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.affine1, self.affine2 = nn.Linear(n, 32), nn.Linear(32, 2)
        self.saved_log_probs, self.rewards = [], []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=-1)


def select_action(policy, state):
    m = Categorical(policy(state))
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode(policy, optimizer, gamma=0.95, eps=1e-6):
    R, returns = 0, []
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    if len(returns) > 1:
        returns = (returns - returns.mean()) / (returns.std() + eps)
    policy_loss = -torch.stack(policy.saved_log_probs).sum()
    optimizer.zero_grad()
    policy_loss.backward()
    optimizer.step()
    total = sum(policy.rewards)
    del policy.rewards[:], policy.saved_log_probs[:]
    return policy_loss.item(), total


def main():
    torch.manual_seed(543)
    env, policy = GridWorld(), Policy(8)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    running_reward = 0
    for i_episode in range(6):
        state, done = env.reset(), False
        while not done:
            state, reward, done = env.step(select_action(policy, state))
            policy.rewards.append(reward)
        loss, total = finish_episode(policy, optimizer)
        running_reward = 0.05 * total + 0.95 * running_reward
        print("Episode {}\tLoss: {:.6f}\tAverage reward: {:.4f}".format(i_episode, loss, running_reward))


if __name__ == "__main__":
    main()
