#!/usr/bin/env python
# Noisy double DQN (Fortunato et al.), chain environment
import copy
import math
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

STATES = 7
GAMMA = 0.9
BATCH = 24
DOUBLE = True


class NoisyLinear(nn.Module):
	def __init__(self, n_in, n_out, sigma=0.5):
		super().__init__()
		self.n_in, self.n_out = n_in, n_out
		bound = 1 / math.sqrt(n_in)
		self.weight_mu = nn.Parameter(torch.empty(n_out, n_in).uniform_(-bound, bound))
		self.weight_sigma = nn.Parameter(torch.full((n_out, n_in), sigma * bound))
		self.bias_mu = nn.Parameter(torch.empty(n_out).uniform_(-bound, bound))
		self.bias_sigma = nn.Parameter(torch.full((n_out,), sigma * bound))
		self.register_buffer("weight_epsilon", torch.zeros(n_out, n_in))
		self.register_buffer("bias_epsilon", torch.zeros(n_out))
		self.reset_noise()

	@staticmethod
	def scaled(size):
		x = torch.randn(size)
		return x.sign() * x.abs().sqrt()

	def reset_noise(self):
		e_in, e_out = self.scaled(self.n_in), self.scaled(self.n_out)
		self.weight_epsilon.data.copy_(torch.outer(e_out, e_in))
		self.bias_epsilon.data.copy_(e_out)

	def forward(self, x):
		w = self.weight_mu + self.weight_sigma * self.weight_epsilon
		b = self.bias_mu + self.bias_sigma * self.bias_epsilon
		return F.linear(x, w, b)


class NoisyDQN(nn.Module):
	def __init__(self, hidden=32):
		super().__init__()
		self.body = nn.Linear(STATES, hidden)
		self.noisy1 = NoisyLinear(hidden, hidden)
		self.noisy2 = NoisyLinear(hidden, 2)

	def forward(self, s):
		h = F.relu(self.body(s))
		return self.noisy2(F.relu(self.noisy1(h)))

	def reset_noise(self):
		self.noisy1.reset_noise()
		self.noisy2.reset_noise()


def onehot(i):
	return F.one_hot(torch.as_tensor(i), STATES).float()


def env_step(s, a):
	s2 = min(s + 1, STATES - 1) if a == 1 else max(s - 1, 0)
	return s2, (1.0 if s2 == STATES - 1 else (0.1 if s2 == 0 else 0.0))


def td_loss(online, target, batch):
	s, a, r, s2 = zip(*batch)
	s, s2 = onehot(list(s)), onehot(list(s2))
	a, r = torch.tensor(a), torch.tensor(r)

	q = online(s).gather(1, a[:, None]).squeeze(1)

	# independent noise for the action selection and for the target net (sec. 3.1: zeta, zeta', zeta'')
	online.reset_noise()
	target.reset_noise()
	with torch.no_grad():
		chooser = online if DOUBLE else target
		best = chooser(s2).argmax(1, keepdim=True)
		y = r + GAMMA * target(s2).gather(1, best).squeeze(1)
	return F.smooth_l1_loss(q, y)


def main():
	torch.manual_seed(2)
	random.seed(2)
	online = NoisyDQN()
	target = copy.deepcopy(online)
	opt = torch.optim.Adam(online.parameters(), lr=5e-3)
	memory = deque(maxlen=500)
	s = 3
	losses = []
	for t in range(60):
		online.reset_noise()
		with torch.no_grad():
			a = online(onehot([s])).argmax(1).item()
		s2, r = env_step(s, a)
		memory.append((s, a, r, s2))
		s = s2 if t % 15 else random.randrange(STATES)
		if t >= 30 and t % 3 == 0:
			loss = td_loss(online, target, random.sample(list(memory), BATCH))
			opt.zero_grad()
			loss.backward()
			opt.step()
			losses.append(loss.item())
		if t % 20 == 19:
			target.load_state_dict(online.state_dict())
	print("first %.6f last %.6f" % (losses[0], losses[-1]))
	print("mean sigma %.6f %.6f" % (online.noisy1.weight_sigma.mean().item(), online.noisy2.weight_sigma.mean().item()))


if __name__ == "__main__":
	main()
