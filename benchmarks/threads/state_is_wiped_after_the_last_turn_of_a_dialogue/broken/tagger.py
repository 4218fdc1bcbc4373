import torch
import torch.nn as nn


class TurnTagger(nn.Module):
	def __init__(self, n_in, n_hidden, n_labels):
		super().__init__()
		self.n_hidden = n_hidden
		self.embed = nn.Linear(n_in, n_hidden)
		self.cell = nn.RNNCell(n_hidden, n_hidden)
		self.out = nn.Linear(n_hidden, n_labels)

	def forward(self, x, last):
		# x: (batch, time, features), last: (batch, time) bool
		e = torch.relu(self.embed(x))
		h = x.new_zeros(x.size(0), self.n_hidden)
		states = []
		for t in range(x.size(1)):
			h = self.cell(e[:, t], h)
			states.append(h)
			h[last[:, t]] = 0.		# dialogue over, forget it
		return self.out(torch.stack(states, dim=1))
