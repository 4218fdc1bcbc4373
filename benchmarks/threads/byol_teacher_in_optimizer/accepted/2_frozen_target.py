import copy
import torch
from torch import nn
import torch.nn.functional as F

# small BYOL on 1x12x12 "cells", interface as in the README everybody copies:
#   learner = BYOL(net, ...); opt = Adam(learner.parameters()); loss = learner(images); loss.backward(); opt.step()


def mlp(dim, hidden, out):
	return nn.Sequential(nn.Linear(dim, hidden), nn.LayerNorm(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, out))


class Encoder(nn.Module):
	def __init__(self, width=6, out=16):
		super().__init__()
		self.conv1 = nn.Conv2d(1, width, 3, padding=1, stride=2)
		self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1, stride=2)
		self.fc = nn.Linear(2 * width * 9, out)

	def forward(self, x):
		x = F.relu(self.conv1(x))
		x = F.relu(self.conv2(x))
		return self.fc(x.flatten(1))


class BYOL(nn.Module):
	def __init__(self, net, dim=16, proj=12, tau=0.9):
		super().__init__()
		self.tau = tau
		self.online = nn.Sequential(net, mlp(dim, 24, proj))
		self.target = copy.deepcopy(self.online).requires_grad_(False)
		self.predictor = mlp(proj, 24, proj)

	@torch.no_grad()
	def update_target(self):
		for o, t in zip(self.online.parameters(), self.target.parameters()):
			t.mul_(self.tau).add_(o, alpha=1 - self.tau)

	@staticmethod
	def augment(x):
		shift = torch.randint(-1, 2, (2,)).tolist()
		x = torch.roll(x, shift, dims=(2, 3))
		gain = 0.8 + 0.4 * torch.rand(x.shape[0], 1, 1, 1)
		return gain * x + 0.05 * torch.randn_like(x)

	def forward(self, x):
		v1, v2 = self.augment(x), self.augment(x)
		p1, p2 = self.predictor(self.online(v1)), self.predictor(self.online(v2))
		z1, z2 = self.target(v1), self.target(v2)
		loss = 2 - 2 * F.cosine_similarity(p1, z2, dim=-1)
		loss = loss + 2 - 2 * F.cosine_similarity(p2, z1, dim=-1)
		self.update_target()
		return loss.mean()


def cells(n):
	yy, xx = torch.meshgrid(torch.arange(12.), torch.arange(12.), indexing="ij")
	c = 3 + 6 * torch.rand(n, 2)
	r = 1 + 2 * torch.rand(n)
	d = (yy - c[:, 0, None, None]) ** 2 + (xx - c[:, 1, None, None]) ** 2
	return torch.exp(-d / (2 * r[:, None, None] ** 2)).unsqueeze(1)


def run(steps=7, seed=5):
	torch.manual_seed(seed)
	learner = BYOL(Encoder())
	opt = torch.optim.Adam(learner.parameters(), lr=2e-3)
	data = cells(96)
	for i in range(steps):
		images = data[torch.randperm(len(data))[:32]]
		loss = learner(images)
		opt.zero_grad()
		loss.backward()
		opt.step()
		print(f"{i}\t{loss.item():.5f}")
	with torch.no_grad():
		spread = learner.online(data).std(0).mean()
	print(f"std of embeddings {spread.item():.5f}")
	print(f"target norm {sum(p.norm().item() for p in learner.target.parameters()):.5f}")


if __name__ == "__main__":
	run()
