# N-BEATS on a toy series, doubly residual stacking
import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F

backcast_length, forecast_length = 20, 5
batch_size = 16
torch.manual_seed(4)
np.random.seed(4)


def windows():
	t = np.arange(260)
	s = 1.5 + 0.004 * t + 0.6 * np.sin(t / 3.5) + 0.05 * np.random.randn(260)
	n = len(s) - backcast_length - forecast_length
	x = np.stack([s[i:i + backcast_length] for i in range(n)])
	y = np.stack([s[i + backcast_length:i + backcast_length + forecast_length] for i in range(n)])
	return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


class Block(nn.Module):

	def __init__(self, units, thetas_dim):
		super().__init__()
		self.fc1 = nn.Linear(backcast_length, units)
		self.fc2 = nn.Linear(units, units)
		self.theta_b = nn.Linear(units, thetas_dim, bias=False)
		self.theta_f = nn.Linear(units, thetas_dim, bias=False)
		self.backcast_fc = nn.Linear(thetas_dim, backcast_length)
		self.forecast_fc = nn.Linear(thetas_dim, forecast_length)

	def forward(self, x):
		x = F.relu(self.fc2(F.relu(self.fc1(x))))
		return self.backcast_fc(self.theta_b(x)), self.forecast_fc(self.theta_f(x))


class NBeatsNet(nn.Module):

	def __init__(self, nb_stacks=2, nb_blocks=2, units=32, thetas_dim=8):
		super().__init__()
		self.stacks = nn.ModuleList([
			nn.ModuleList([Block(units, thetas_dim) for _ in range(nb_blocks)])
			for _ in range(nb_stacks)])

	def forward(self, backcast):
		forecast = torch.zeros(backcast.size(0), forecast_length)
		for stack in self.stacks:
			for block in stack:
				b, f = block(backcast)
				backcast = backcast.clone()
				backcast -= b
				forecast += f
		return backcast, forecast


x_all, y_all = windows()
n_train = 192
x_train, y_train = x_all[:n_train], y_all[:n_train]
x_test, y_test = x_all[n_train:], y_all[n_train:]

net = NBeatsNet()
optimiser = optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(5):
	net.train()
	total = 0.0
	for i in range(0, n_train, batch_size):
		optimiser.zero_grad()
		_, forecast = net(x_train[i:i + batch_size])
		loss = F.mse_loss(forecast, y_train[i:i + batch_size])
		loss.backward()
		optimiser.step()
		total += loss.item()
	net.eval()
	with torch.no_grad():
		_, forecast = net(x_test.clone())
		print('epoch %d train %.6f test %.6f' % (epoch, total / (n_train // batch_size), F.mse_loss(forecast, y_test).item()))
