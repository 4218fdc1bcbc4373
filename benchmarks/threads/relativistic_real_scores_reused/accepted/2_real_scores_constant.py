import torch, torch.nn as nn
from torch.autograd import Variable

## Relativistic average LSGAN on a ring of gaussians

class param:
	input_size = 2
	z_size = 4
	h = 24
	batch_size = 32
	n_iter = 7
	lr_D = 2e-3
	lr_G = 2e-3
	seed = 26

torch.manual_seed(param.seed)

def random_data(n):
	a = torch.rand(n) * 6.2832
	return torch.stack([a.cos(), a.sin()], 1) + 0.05 * torch.randn(n, 2)

class DCGAN_G(torch.nn.Module):
	def __init__(self):
		super(DCGAN_G, self).__init__()
		self.main = nn.Sequential(
			nn.Linear(param.z_size, param.h), nn.LeakyReLU(0.2),
			nn.Linear(param.h, param.h), nn.LeakyReLU(0.2),
			nn.Linear(param.h, param.input_size))
	def forward(self, input):
		return self.main(input)

class DCGAN_D(torch.nn.Module):
	def __init__(self):
		super(DCGAN_D, self).__init__()
		self.main = nn.Sequential(
			nn.Linear(param.input_size, param.h), nn.LeakyReLU(0.2),
			nn.Linear(param.h, param.h), nn.LeakyReLU(0.2),
			nn.Linear(param.h, 1))
	def forward(self, input):
		return self.main(input).view(-1)

def weights_init(m):
	if isinstance(m, nn.Linear):
		m.weight.data.normal_(0.0, 0.2)
		m.bias.data.fill_(0)

G = DCGAN_G()
D = DCGAN_D()
G.apply(weights_init); D.apply(weights_init)

optimizerD = torch.optim.Adam(D.parameters(), lr=param.lr_D, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(G.parameters(), lr=param.lr_G, betas=(0.5, 0.999))
y = torch.ones(param.batch_size)
z = torch.FloatTensor(param.batch_size, param.z_size)

for i in range(param.n_iter):
	############################
	# Update D network
	############################
	for p in D.parameters():
		p.requires_grad = True
	D.zero_grad()
	x = random_data(param.batch_size)
	y_pred = D(x)
	z.normal_(0, 1)
	fake = G(Variable(z.clone()))
	y_pred_fake = D(fake.detach())
	errD = (torch.mean((y_pred - torch.mean(y_pred_fake) - y) ** 2) + torch.mean((y_pred_fake - torch.mean(y_pred) + y) ** 2)) / 2
	errD.backward()
	optimizerD.step()

	############################
	# Update G network
	############################
	for p in D.parameters():
		p.requires_grad = False
	G.zero_grad()
	y_pred = y_pred.detach()
	y_pred_fake = D(fake)
	errG = (torch.mean((y_pred - torch.mean(y_pred_fake) + y) ** 2) + torch.mean((y_pred_fake - torch.mean(y_pred) - y) ** 2)) / 2
	errG.backward()
	optimizerG.step()
	print("[%d/%d] Loss_D: %.6f Loss_G: %.6f" % (i, param.n_iter, errD.item(), errG.item()))
