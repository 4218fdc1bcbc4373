import torch
import torch.nn as nn
import torch.nn.functional as F


class MLP(nn.Module):
	"""forward() takes the weights from outside if they are given."""

	def __init__(self, in_dim=6, hidden=16, classes=2):
		super(MLP, self).__init__()
		self.w1 = nn.Parameter(torch.randn(hidden, in_dim) * 0.3)
		self.b1 = nn.Parameter(torch.zeros(hidden))
		self.w2 = nn.Parameter(torch.randn(classes, hidden) * 0.3)
		self.b2 = nn.Parameter(torch.zeros(classes))

	def forward(self, x, weights=None):
		if weights is None:
			weights = dict(self.named_parameters())
		h = torch.tanh(F.linear(x, weights['w1'], weights['b1']))
		return F.linear(h, weights['w2'], weights['b2'])
