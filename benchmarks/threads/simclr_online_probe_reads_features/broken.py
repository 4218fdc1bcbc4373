# -*- coding: utf-8 -*-
# SimCLR + online linear probe.  usage: python ssl.py --epochs 3
import argparse
import torch
from torch import nn
import torch.nn.functional as F


class Backbone(nn.Module):
	def __init__(self, d_in=20, width=32):
		super().__init__()
		self.f = nn.Sequential(nn.Linear(d_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())

	def forward(self, x):
		return self.f(x)


class NTXent(nn.Module):
	def __init__(self, t=0.2):
		super().__init__()
		self.t = t

	def forward(self, a, b):
		n = a.size(0)
		z = F.normalize(torch.cat([a, b]), dim=1)
		sim = z @ z.t() / self.t
		sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)
		target = torch.cat([torch.arange(n) + n, torch.arange(n)])
		return F.cross_entropy(sim, target)


class Views:
	"""two noisy copies + random feature drop"""

	def __init__(self, noise=0.15, drop=0.2):
		self.noise, self.drop = noise, drop

	def one(self, x):
		keep = (torch.rand_like(x) > self.drop).float()
		return (x + self.noise * torch.randn_like(x)) * keep

	def __call__(self, x):
		return self.one(x), self.one(x)


class SSLTrainer:
	def __init__(self, args):
		self.args = args
		self.backbone = Backbone()
		self.projector = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 16))
		self.probe = nn.Linear(32, args.classes)   # only to watch how good the representation is during pre-training
		self.criterion = NTXent()
		self.views = Views()
		self.opt = torch.optim.SGD(list(self.backbone.parameters()) + list(self.projector.parameters()), lr=args.lr, momentum=0.9)
		self.opt_probe = torch.optim.SGD(self.probe.parameters(), lr=args.probe_lr)

	def train_step(self, x, y):
		v1, v2 = self.views(x)
		h1 = self.backbone(v1)
		h2 = self.backbone(v2)
		loss = self.criterion(self.projector(h1), self.projector(h2))
		self.opt.zero_grad()
		loss.backward()
		self.opt.step()

		# online evaluation
		logits = self.probe(h1)
		probe_loss = F.cross_entropy(logits, y)
		self.opt_probe.zero_grad()
		probe_loss.backward()
		self.opt_probe.step()
		acc = (logits.argmax(1) == y).float().mean()
		return loss.item(), probe_loss.item(), acc.item()

	def fit(self, loader):
		for ep in range(self.args.epochs):
			tot = torch.zeros(3)
			for x, y in loader:
				tot += torch.tensor(self.train_step(x, y))
			tot /= len(loader)
			print(f"epoch {ep}: ssl {tot[0]:.5f} probe {tot[1]:.5f} acc {tot[2]:.4f}")


def make_loader(args):
	g = torch.Generator().manual_seed(3)
	centers = torch.randn(args.classes, 20, generator=g)
	data = []
	for _ in range(args.batches):
		y = torch.randint(0, args.classes, (args.bs,), generator=g)
		data.append((centers[y] + 0.4 * torch.randn(args.bs, 20, generator=g), y))
	return data


if __name__ == '__main__':
	p = argparse.ArgumentParser()
	p.add_argument('--epochs', type=int, default=3)
	p.add_argument('--bs', type=int, default=32)
	p.add_argument('--batches', type=int, default=4)
	p.add_argument('--classes', type=int, default=5)
	p.add_argument('--lr', type=float, default=0.05)
	p.add_argument('--probe_lr', type=float, default=0.3)
	p.add_argument('--amp', action='store_true', help='unused')
	args = p.parse_args()
	torch.manual_seed(0)
	SSLTrainer(args).fit(make_loader(args))
