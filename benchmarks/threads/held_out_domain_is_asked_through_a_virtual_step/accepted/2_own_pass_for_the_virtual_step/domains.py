import torch


class Domains(object):
	"""Three source domains and an unseen one: the same two classes, turned by
	another angle and shifted (a toy stand-in for PACS)."""

	def __init__(self, n=60, seed=3):
		g = torch.Generator().manual_seed(seed)
		self.angles = [0.0, 0.35, 0.7, 1.0]
		self.data = []
		for k, a in enumerate(self.angles):
			y = torch.randint(0, 2, (n,), generator=g)
			x = torch.randn(n, 6, generator=g) * 0.6
			x[:, 0] += 1.6 * y - 0.8
			x[:, 1] += 0.8 - 1.2 * y
			c, s = torch.cos(torch.tensor(a)), torch.sin(torch.tensor(a))
			turn = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])
			x = torch.cat([x[:, :2] @ turn.t() + 0.3 * k, x[:, 2:]], dim=1)
			self.data.append((x, y))

	def sources(self):
		return self.data[:3]

	def unseen(self):
		return self.data[3]
