import torch
import torch.nn as nn
import torch.nn.functional as F

# VQ-VAE, codebook initialised from the encodings of the first batch


class VectorQuantizer(nn.Module):
	def __init__(self, n_codes, dim, beta=0.25):
		super().__init__()
		self.n_codes, self.dim, self.beta = n_codes, dim, beta
		self.codebook = nn.Embedding(n_codes, dim)
		self.codebook.weight.data.uniform_(-1 / n_codes, 1 / n_codes)
		self._need_init = True

	def _tile(self, x):
		n, d = x.shape
		if n < self.n_codes:
			rep = (self.n_codes + n - 1) // n
			x = x.repeat(rep, 1)
			x = x + torch.randn_like(x) * 0.01 / d ** 0.5
		return x

	def _init_codebook(self, flat):
		self._need_init = False
		y = self._tile(flat)
		perm = torch.randperm(len(y))[:self.n_codes]
		self.codebook.weight[:] = y[perm]

	def forward(self, z):
		flat = z.permute(0, 2, 3, 1).reshape(-1, self.dim)
		if self._need_init and self.training:
			self._init_codebook(flat)
		dist = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.codebook.weight.t() + self.codebook.weight.pow(2).sum(1)
		codes = dist.argmin(1)
		q = self.codebook(codes).view(z.shape[0], z.shape[2], z.shape[3], self.dim).permute(0, 3, 1, 2)
		loss = F.mse_loss(q, z.detach()) + self.beta * F.mse_loss(z, q.detach())
		usage = torch.bincount(codes, minlength=self.n_codes).float()
		p = usage / usage.sum()
		perplexity = torch.exp(-(p * torch.log(p + 1e-10)).sum())
		return z + (q - z).detach(), loss, perplexity


class VQVAE(nn.Module):
	def __init__(self, ch=8, dim=4, n_codes=10):
		super().__init__()
		self.enc = nn.Sequential(nn.Conv2d(1, ch, 4, 2, 1), nn.ReLU(), nn.Conv2d(ch, dim, 4, 2, 1))
		self.vq = VectorQuantizer(n_codes, dim)
		self.dec = nn.Sequential(nn.ConvTranspose2d(dim, ch, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(ch, 1, 4, 2, 1))

	def forward(self, x):
		q, loss, perp = self.vq(self.enc(x))
		return self.dec(q), loss, perp


def shapes(n, g):
	r = torch.linspace(-1, 1, 12)
	c = torch.rand(n, 2, 1, 1, generator=g) - 0.5
	d = ((r[None, :, None] - c[:, 0]) ** 2 + (r[None, None, :] - c[:, 1]) ** 2).sqrt()
	return torch.sigmoid(8 * (0.5 - d))[:, None]


def main():
	torch.manual_seed(33)
	g = torch.Generator().manual_seed(33)
	model = VQVAE()
	opt = torch.optim.Adam(model.parameters(), lr=5e-3)
	for it in range(7):
		x = shapes(8, g)
		out, vq_loss, perp = model(x)
		rec = F.mse_loss(out, x)
		opt.zero_grad()
		(rec / 0.06 + vq_loss).backward()
		opt.step()
		print("%d rec %.6f vq %.6f perplexity %.6f" % (it, rec.item(), vq_loss.item(), perp.item()))
	print("%.6f" % model.vq.codebook.weight.norm().item())


main()
