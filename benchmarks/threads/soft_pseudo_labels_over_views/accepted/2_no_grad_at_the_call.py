import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)


def weak(x):
	return x + 0.05 * torch.randn_like(x)


def strong(x):
	keep = (torch.rand_like(x) > 0.2).float()
	return (x + 0.3 * torch.randn_like(x)) * keep


class Student(nn.Module):
	def __init__(self):
		super().__init__()
		self.f = nn.Sequential(nn.Linear(8, 20), nn.ReLU(), nn.Linear(20, 3))

	def forward(self, x):
		return self.f(x)


def guess(net, u, T=0.5):
	p = F.softmax(net(weak(u)), -1) ** (1 / T)
	return p / p.sum(-1, keepdim=True)


net = Student()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
for it in range(3):
	x, u = torch.randn(12, 8), torch.randn(24, 8)
	y = x[:, :3].argmax(1)
	with torch.no_grad():
		q = guess(net, u)
	for view in range(2):
		sup = F.cross_entropy(net(weak(x)), y)
		uns = F.kl_div(F.log_softmax(net(strong(u)), -1), q, reduction='batchmean')
		opt.zero_grad()
		(sup + 0.8 * uns).backward()
		opt.step()
print('sup %.6f uns %.6f' % (sup.item(), uns.item()))
