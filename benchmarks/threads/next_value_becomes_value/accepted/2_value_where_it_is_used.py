# one-step actor-critic (Sutton & Barto, p. 332), fully online, one update per transition
import argparse
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Corridor:
    """noisy corridor with a cliff at the left end"""
    n_actions = 2

    def __init__(self, length=8, seed=0):
        self.length = length
        self.rng = np.random.default_rng(seed)

    def _obs(self):
        x = self.pos / self.length
        return torch.tensor([x, x * x, 1 - x, self.t / 20.0], dtype=torch.float32)

    def reset(self):
        self.pos, self.t = 3.0, 0
        return self._obs()

    def step(self, action):
        self.t += 1
        self.pos += (1 if action == 1 else -1) + 0.3 * self.rng.normal()
        done = self.pos <= 0 or self.pos >= self.length or self.t >= 12
        reward = 1.0 if self.pos >= self.length else (-1.0 if self.pos <= 0 else -0.02)
        return self._obs(), reward, done


class Agent(object):
	def __init__(self, n_obs, n_actions, hidden, lr_actor, lr_critic, gamma, entropy=0.0):
		self.actor = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh(), nn.Linear(hidden, n_actions))
		self.critic = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh(), nn.Linear(hidden, 1))
		self.actor_opt = torch.optim.SGD(self.actor.parameters(), lr=lr_actor)
		self.critic_opt = torch.optim.SGD(self.critic.parameters(), lr=lr_critic)
		self.gamma = gamma
		self.entropy = entropy

	def value(self, s):
		return self.critic(s).squeeze(-1)

	def act(self, s):
		dist = Categorical(logits=self.actor(s))
		a = dist.sample()
		return a.item(), dist.log_prob(a), dist.entropy()

	def learn(self, value, log_prob, entropy, reward, next_value, done):
		target = reward + self.gamma * next_value.detach() * (1.0 - float(done))
		td_error = target - value
		critic_loss = td_error.pow(2)
		actor_loss = -log_prob * td_error.detach() - self.entropy * entropy

		self.critic_opt.zero_grad()
		critic_loss.backward()
		self.critic_opt.step()

		self.actor_opt.zero_grad()
		actor_loss.backward()
		self.actor_opt.step()
		return td_error.item()

	def run_episode(self, env):
		s = env.reset()
		done, total, errors = False, 0.0, []
		while not done:
			a, log_prob, entropy = self.act(s)
			s_, reward, done = env.step(a)
			with torch.no_grad():
				next_value = self.value(s_)
			value = self.value(s)
			errors.append(self.learn(value, log_prob, entropy, reward, next_value, done))
			s = s_
			total += reward
		return total, errors


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=4)
    p.add_argument("--hidden", type=int, default=16)
    p.add_argument("--lr-actor", type=float, default=0.05)
    p.add_argument("--lr-critic", type=float, default=0.1)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--seed", type=int, default=5)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    env = Corridor(seed=args.seed)
    agent = Agent(4, env.n_actions, args.hidden, args.lr_actor, args.lr_critic, args.gamma, entropy=0.01)
    history = deque(maxlen=50)
    for ep in range(args.episodes):
        score, errors = agent.run_episode(env)
        history.append(score)
        print("episode %d score %.3f steps %d td %.6f" % (ep, score, len(errors), float(np.mean(np.abs(errors)))))
