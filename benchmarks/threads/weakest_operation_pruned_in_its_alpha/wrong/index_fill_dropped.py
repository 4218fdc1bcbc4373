import torch
import torch.nn as nn
import torch.nn.functional as F

PRUNED = -1.0e4

OPS = {
	"skip": lambda c: nn.Identity(),
	"conv3": lambda c: nn.Sequential(nn.Conv1d(c, c, 3, padding=1), nn.ReLU()),
	"conv5": lambda c: nn.Sequential(nn.Conv1d(c, c, 5, padding=2), nn.ReLU()),
	"dil3": lambda c: nn.Sequential(nn.Conv1d(c, c, 3, padding=2, dilation=2), nn.Tanh()),
	"pool": lambda c: nn.AvgPool1d(3, 1, 1),
}


class MixedOp(nn.Module):
	def __init__(self, channels):
		super().__init__()
		self.ops = nn.ModuleList(make(channels) for make in OPS.values())

	def forward(self, x, weights):
		return sum(w * op(x) for w, op in zip(weights, self.ops))


class Cell(nn.Module):
	"""A cell with `nodes` inner nodes; every node sees all the earlier ones."""

	def __init__(self, channels, nodes):
		super().__init__()
		self.nodes = nodes
		self.edges = nn.ModuleDict()
		for j in range(1, nodes + 1):
			for i in range(j):
				self.edges[f"{i}-{j}"] = MixedOp(channels)

	def forward(self, x, weights):
		states = [x]
		for j in range(1, self.nodes + 1):
			states.append(sum(self.edges[f"{i}-{j}"](states[i], weights[f"{i}-{j}"]) for i in range(j)))
		return states[-1]


class SuperNet(nn.Module):
	def __init__(self, channels=6, nodes=2, n_classes=3):
		super().__init__()
		self.stem = nn.Conv1d(1, channels, 3, padding=1)
		self.cell = Cell(channels, nodes)
		self.head = nn.Linear(channels, n_classes)
		self.alphas = nn.ParameterDict({
			k: nn.Parameter(1e-3 * torch.randn(len(OPS))) for k in self.cell.edges.keys()
		})

	def weight_parameters(self):
		return [p for n, p in self.named_parameters() if not n.startswith("alphas")]

	def forward(self, x):
		w = {k: F.softmax(a, dim=-1) for k, a in self.alphas.items()}
		return self.head(self.cell(self.stem(x), w).mean(-1))

	def prune_weakest(self):
		removed = []
		for edge, alpha in self.alphas.items():
			alive = (alpha > PRUNED / 2).nonzero().flatten()
			if len(alive) == 1:
				continue
			weakest = alive[alpha[alive].argmin()]
			alpha.index_fill(0, weakest, PRUNED)
			removed.append((edge, list(OPS)[weakest]))
		return removed


def waves(n, seed):
	g = torch.Generator().manual_seed(seed)
	y = torch.randint(0, 3, (n,), generator=g)
	t = torch.linspace(0, 6.28, 24)
	x = torch.sin(t * (y[:, None] + 1) + torch.rand(n, 1, generator=g) * 6) + 0.3 * torch.randn(n, 24, generator=g)
	return x[:, None], y


class Searcher:
	def __init__(self, net):
		self.net = net
		self.w_opt = torch.optim.SGD(net.weight_parameters(), lr=0.05, momentum=0.9)
		self.a_opt = torch.optim.Adam(net.alphas.values(), lr=0.05, betas=(0.5, 0.999))

	def step(self, opt, x, y):
		self.w_opt.zero_grad(); self.a_opt.zero_grad()
		loss = F.cross_entropy(self.net(x), y)
		loss.backward()
		opt.step()
		return loss.item()

	def epoch(self, train, valid, bs=16):
		for i in range(0, len(train[1]), bs):
			s = slice(i, i + bs)
			lv = self.step(self.a_opt, valid[0][s], valid[1][s])
			lt = self.step(self.w_opt, train[0][s], train[1][s])
		return lt, lv


if __name__ == "__main__":
	torch.manual_seed(5)
	net = SuperNet()
	searcher = Searcher(net)
	train, valid = waves(48, 1), waves(48, 2)
	for ep in range(4):
		lt, lv = searcher.epoch(train, valid)
		print("epoch %d train %.5f valid %.5f" % (ep, lt, lv))
		if ep < 3:
			for edge, op in net.prune_weakest():
				print("   edge", edge, "loses", op)
