# RELAX on a row of slot machines: every arm is pulled or not (b ~ Bernoulli), the reward
# is a black box. The control variate c_phi and the temperature are tuned to make the
# variance of the gradient estimate small.
import argparse

import numpy as np
import torch
from torch import nn
from torch.distributions import Bernoulli


class BlackBox(object):
	"""cost of a set of pulled arms; only values, no gradient"""

	def __init__(self, arms, seed):
		rng = np.random.RandomState(seed)
		self.pay = rng.randn(arms)
		self.clash = np.triu(rng.rand(arms, arms) < 0.3, 1) * 0.8

	def __call__(self, b):
		b = b.detach().numpy()
		cost = -(b @ self.pay) + ((b @ self.clash) * b).sum(1)
		return torch.from_numpy(cost).float()


class ControlVariate(nn.Module):
	def __init__(self, arms, hidden):
		super().__init__()
		self.net = nn.Sequential(nn.Linear(arms, hidden), nn.Tanh(), nn.Linear(hidden, 1))
		self.log_temp = nn.Parameter(torch.zeros(1))

	def forward(self, z):
		return self.net(torch.sigmoid(z / self.log_temp.exp())).squeeze(1)


def sample(logits, n):
	"""b, its relaxation z, and z_tilde given b"""
	theta = torch.sigmoid(logits).expand(n, -1)
	u = torch.rand(n, logits.numel()).clamp(1e-6, 1 - 1e-6)
	z = logits + torch.log(u) - torch.log1p(-u)
	b = (z > 0).float().detach()
	v = torch.rand(n, logits.numel()).clamp(1e-6, 1 - 1e-6)
	v = torch.where(b > 0, v * theta + (1 - theta), v * (1 - theta)).clamp(1e-6, 1 - 1e-6)
	z_tilde = logits + torch.log(v) - torch.log1p(-v)
	return b, z, z_tilde


def relax(fb, b, logits, z, z_tilde, c):
	c_z, c_z_tilde = c(z), c(z_tilde)
	log_pb = Bernoulli(logits=logits).log_prob(b).sum(1)
	diff = fb - c_z_tilde
	# score function with what the control variate leaves over
	d_log_pb, = torch.autograd.grad([log_pb], [logits], grad_outputs=diff, create_graph=True)
	d_c_z, = torch.autograd.grad([c_z.sum()], [logits], create_graph=True)
	d_c_z_tilde, = torch.autograd.grad([c_z_tilde.sum()], [logits], create_graph=True)
	return (d_log_pb + d_c_z - d_c_z_tilde) / len(b)


parser = argparse.ArgumentParser()
parser.add_argument('--arms', type=int, default=10)
parser.add_argument('--samples', type=int, default=4)
parser.add_argument('--iters', type=int, default=160)
parser.add_argument('--seed', type=int, default=11)
args = parser.parse_args()

torch.manual_seed(args.seed)
black_box = BlackBox(args.arms, args.seed)
logits = nn.Parameter(torch.zeros(args.arms))
control = ControlVariate(args.arms, 16)
policy_opt = torch.optim.Adam([logits], lr=5e-2)
tune_opt = torch.optim.Adam(control.parameters(), lr=1e-2)

second_moment = 0.
for it in range(args.iters):
	b, z, z_tilde = sample(logits, args.samples)
	fb = black_box(b)
	d_logits = relax(fb, b, logits, z, z_tilde, control)

	policy_opt.zero_grad()
	logits.backward(d_logits)

	# E[g]^2 does not depend on phi, so the second moment stands for the variance
	tune_loss = (d_logits ** 2).sum()
	tune_opt.zero_grad()
	tune_loss.backward()

	policy_opt.step()
	tune_opt.step()
	second_moment = 0.95 * second_moment + 0.05 * tune_loss.item()
	if (it + 1) % 40 == 0:
		print('%4d  cost %.6f  second moment %.6f  temp %.6f' % (
			it + 1, fb.mean().item(), second_moment, control.log_temp.exp().item()))

print('p(pull) ' + ' '.join('%.6f' % p for p in torch.sigmoid(logits).tolist()))
