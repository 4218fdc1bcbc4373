#!/usr/bin/env python
"""structured pruning without nn.Module: filters with a small L1 norm go, then fine-tuning"""
import math
import torch

torch.manual_seed(31)


class Layer:
	def __init__(self, n_in, n_out):
		self.w = (torch.randn(n_out, n_in) / math.sqrt(n_in)).requires_grad_()
		self.b = torch.zeros(n_out, requires_grad=True)

	def __call__(self, x):
		return x @ self.w.t() + self.b

	def keep_outputs(self, keep):
		self.w = torch.nn.Parameter(self.w[keep])
		self.b = torch.nn.Parameter(self.b[keep])

	def keep_inputs(self, keep):
		self.w = torch.nn.Parameter(self.w[:, keep])


class Net:
	def __init__(self, sizes):
		self.layers = [Layer(a, b) for a, b in zip(sizes[:-1], sizes[1:])]

	def parameters(self):
		return [p for l in self.layers for p in (l.w, l.b)]

	def __call__(self, x):
		for l in self.layers[:-1]:
			x = torch.relu(l(x))
		return self.layers[-1](x)

	def prune(self, which, ratio):
		"""drops the weakest filters of one hidden layer"""
		layer, following = self.layers[which], self.layers[which + 1]
		score = layer.w.detach().abs().sum(1)
		keep = score.topk(int(len(score) * (1 - ratio))).indices.sort().values
		layer.keep_outputs(keep)
		following.keep_inputs(keep)
		return len(keep)


def loader(n, g=torch.Generator().manual_seed(32)):
	mix = torch.tensor([[1., -1., .5, 0., 2.], [0., 1., 1., -2., .5]])
	for _ in range(n):
		x = torch.randn(24, 5, generator=g)
		yield x, torch.tanh(x @ mix.t())


def train(net, n, lr):
	opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
	for x, y in loader(n):
		loss = (net(x) - y).pow(2).mean()
		opt.zero_grad()
		loss.backward()
		opt.step()
	return loss.item()


net = Net([5, 16, 12, 2])
print('dense      %.6f' % train(net, 4, 0.05))
for which, ratio in ((0, 0.25), (1, 0.25), (0, 0.5)):
	left = net.prune(which, ratio)
	print('layer %d -> %d filters, fine-tuned %.6f' % (which, left, train(net, 5, 0.03)))
print('weights', [tuple(l.w.shape) for l in net.layers], '%.6f' % sum(l.w.norm().item() for l in net.layers))
