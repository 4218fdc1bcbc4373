"""Two networks, each of which is taught by the small losses of the other (labels are noisy)."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

cfg = {
	"seed": 1,
	"lr": 0.01,
	"n_epoch": 4,
	"batch": 32,
	"noise_rate": 0.3,
	"forget_rate": 0.3,
	"num_gradual": 3,
	"exponent": 1,
}
torch.manual_seed(cfg["seed"])
np.random.seed(cfg["seed"])


def get_data(n, noisy):
	y = torch.randint(0, 4, (n,))
	x = torch.stack([torch.cos(y * 1.57), torch.sin(y * 1.57)], 1).repeat(1, 4) + 0.5 * torch.randn(n, 8)
	if noisy:
		flip = torch.rand(n) < cfg["noise_rate"]
		y_noisy = torch.where(flip, (y + 1) % 4, y)
		return x, y_noisy, ~flip
	return x, y, None


class MLP(nn.Module):
	def __init__(self):
		super().__init__()
		self.l1 = nn.Linear(8, 32)
		self.bn = nn.BatchNorm1d(32)
		self.l2 = nn.Linear(32, 4)

	def forward(self, x):
		return self.l2(F.dropout(F.leaky_relu(self.bn(self.l1(x)), 0.01), 0.1, self.training))


def loss_coteaching(y_1, y_2, t, forget_rate, ind, noise_or_not):
	loss_1 = F.cross_entropy(y_1, t, reduction="none")
	ind_1_sorted = np.sort(loss_1.detach().numpy()).argsort()
	loss_1_sorted = loss_1[ind_1_sorted]

	loss_2 = F.cross_entropy(y_2, t, reduction="none")
	ind_2_sorted = np.sort(loss_2.detach().numpy()).argsort()
	loss_2_sorted = loss_2[ind_2_sorted]

	remember_rate = 1 - forget_rate
	num_remember = int(remember_rate * len(loss_1_sorted))

	pure_ratio_1 = np.sum(noise_or_not[ind[ind_1_sorted[:num_remember]]]) / float(num_remember)
	pure_ratio_2 = np.sum(noise_or_not[ind[ind_2_sorted[:num_remember]]]) / float(num_remember)

	ind_1_update = ind_1_sorted[:num_remember]
	ind_2_update = ind_2_sorted[:num_remember]
	# exchange
	loss_1_update = F.cross_entropy(y_1[ind_2_update], t[ind_2_update])
	loss_2_update = F.cross_entropy(y_2[ind_1_update], t[ind_1_update])
	return loss_1_update, loss_2_update, pure_ratio_1, pure_ratio_2


x, t, clean = get_data(320, True)
x_test, t_test, _ = get_data(100, False)
noise_or_not = clean.numpy().astype(np.float64)
rate_schedule = np.ones(cfg["n_epoch"]) * cfg["forget_rate"]
rate_schedule[:cfg["num_gradual"]] = np.linspace(0, cfg["forget_rate"] ** cfg["exponent"], cfg["num_gradual"])
net1, net2 = MLP(), MLP()
opt1 = torch.optim.Adam(net1.parameters(), lr=cfg["lr"])
opt2 = torch.optim.Adam(net2.parameters(), lr=cfg["lr"])
for epoch in range(cfg["n_epoch"]):
	net1.train(), net2.train()
	ratios = []
	for ind in np.array_split(np.random.permutation(len(x)), len(x) // cfg["batch"]):
		logits1, logits2 = net1(x[ind]), net2(x[ind])
		loss_1, loss_2, p1, p2 = loss_coteaching(logits1, logits2, t[ind], rate_schedule[epoch], ind, noise_or_not)
		opt1.zero_grad()
		loss_1.backward()
		opt1.step()
		opt2.zero_grad()
		loss_2.backward()
		opt2.step()
		ratios.append((p1, p2))
	net1.eval(), net2.eval()
	with torch.no_grad():
		acc = [(net(x_test).argmax(1) == t_test).float().mean().item() for net in (net1, net2)]
	print("epoch %d acc %.4f %.4f pure %.4f %.4f loss %.5f %.5f" % (epoch, *acc, *np.mean(ratios, axis=0), loss_1.item(), loss_2.item()))
