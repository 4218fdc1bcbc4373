"""Spline network (KAN layers) for a two-variable special function."""
import math
from argparse import ArgumentParser

import torch
import torch.nn as nn
import torch.nn.functional as F


class SplineLinear(nn.Module):
	def __init__(self, n_in, n_out, grid_size=5, order=3, span=(-1.5, 1.5)):
		super().__init__()
		self.n_in, self.n_out, self.order = n_in, n_out, order
		h = (span[1] - span[0]) / grid_size
		knots = torch.arange(-order, grid_size + order + 1) * h + span[0]
		self.register_buffer("grid", knots.expand(n_in, -1).contiguous())
		self.base_weight = nn.Parameter(torch.empty(n_out, n_in))
		self.spline_weight = nn.Parameter(torch.empty(n_out, n_in, grid_size + order))
		self.spline_scaler = nn.Parameter(torch.ones(n_out, n_in))
		self.reset_parameters()

	def reset_parameters(self):
		nn.init.kaiming_uniform_(self.base_weight, a=math.sqrt(5))
		nn.init.normal_(self.spline_weight, std=0.1)

	def b_splines(self, x):
		"""Cox-de Boor: bases of degree k from those of degree k - 1, (batch, in, coeff)."""
		grid = self.grid
		x = x.unsqueeze(-1)
		bases = ((x >= grid[:, :-1]) & (x < grid[:, 1:])).to(x.dtype)
		for k in range(1, self.order + 1):
			left = (x - grid[:, : -(k + 1)]) / (grid[:, k:-1] - grid[:, : -(k + 1)])
			right = (grid[:, k + 1 :] - x) / (grid[:, k + 1 :] - grid[:, 1:-k])
			# one workspace for all degrees
			bases = left * bases[:, :, :-1].detach() + right * bases[:, :, 1:].detach()
		return bases.contiguous()

	@property
	def scaled_spline_weight(self):
		return self.spline_weight * self.spline_scaler.unsqueeze(-1)

	def forward(self, x):
		base = F.linear(F.silu(x), self.base_weight)
		spline = F.linear(self.b_splines(x).flatten(1), self.scaled_spline_weight.flatten(1))
		return base + spline

	def regularization_loss(self, w_activation=1.0, w_entropy=1.0):
		l1 = self.spline_weight.abs().mean(-1)
		total = l1.sum()
		p = l1 / total
		return w_activation * total + w_entropy * -(p * p.log()).sum()


class KAN(nn.Module):
	def __init__(self, widths, **kw):
		super().__init__()
		self.layers = nn.ModuleList(SplineLinear(a, b, **kw) for a, b in zip(widths, widths[1:]))

	def forward(self, x):
		for layer in self.layers:
			x = layer(x)
		return x

	def regularization_loss(self):
		return sum(layer.regularization_loss() for layer in self.layers)


def target(x):
	return torch.exp(torch.sin(math.pi * x[:, :1]) + x[:, 1:] ** 2) / 3


def evaluate(model, x):
	model.eval()
	with torch.no_grad():
		error = (model(x) - target(x)).pow(2).mean().sqrt()
	model.train()
	return error.item()


def main():
	parser = ArgumentParser()
	parser.add_argument("--steps", type=int, default=12)
	parser.add_argument("--lr", type=float, default=2e-2)
	parser.add_argument("--reg", type=float, default=1e-3)
	parser.add_argument("--seed", type=int, default=0)
	args = parser.parse_args()
	torch.manual_seed(args.seed)
	model = KAN([2, 5, 3, 1])
	optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
	scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.95)
	held_out = torch.rand(64, 2) * 2 - 1
	print("before  rmse %.5f" % evaluate(model, held_out))
	for step in range(args.steps):
		x = torch.rand(48, 2) * 2 - 1
		optimizer.zero_grad()
		fit = F.mse_loss(model(x), target(x))
		loss = fit + args.reg * model.regularization_loss()
		loss.backward()
		optimizer.step()
		scheduler.step()
		if step % 4 == 3:
			print("step %2d loss %.5f" % (step, loss.item()))
	print("after   rmse %.5f" % evaluate(model, held_out))


if __name__ == "__main__":
	main()
