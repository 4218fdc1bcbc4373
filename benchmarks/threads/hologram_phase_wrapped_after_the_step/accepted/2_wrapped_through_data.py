# multi-plane computer generated holography, phase-only SLM, angular spectrum propagation
import argparse
import math
import torch


def transfer_function(n, pitch, wavelength, z):
	f = torch.fft.fftfreq(n, d=pitch)
	fy, fx = torch.meshgrid(f, f, indexing='ij')
	arg = 1.0 / wavelength ** 2 - fx ** 2 - fy ** 2
	return torch.exp(1j * 2 * math.pi * z * torch.sqrt(torch.clamp(arg, min=0.0)))


class Propagator:
	def __init__(self, n, pitch=8e-3, wavelength=5.2e-4, planes=(10.0, 14.0)):
		self.H = [transfer_function(n, pitch, wavelength, z) for z in planes]

	def __call__(self, field, k):
		return torch.fft.ifft2(torch.fft.fft2(field) * self.H[k])


class HologramOptimizer:
	def __init__(self, targets, args):
		self.args = args
		self.targets = targets
		n = targets.shape[-1]
		self.propagate = Propagator(n)
		self.phase = (torch.rand(n, n) * 2 * math.pi).requires_grad_(True)
		self.scale = torch.ones(len(targets), requires_grad=True)
		self.optimizer = torch.optim.Adam([
			{'params': [self.phase], 'lr': args.lr},
			{'params': [self.scale], 'lr': args.lr * 0.1},
		])
		self.history = []

	def reconstruct(self):
		field = torch.exp(1j * self.phase)
		return torch.stack([self.propagate(field, k).abs() ** 2 for k in range(len(self.targets))])

	def smoothness(self):
		# neighbouring pixels of a liquid crystal leak into each other
		dx = self.phase[:, 1:] - self.phase[:, :-1]
		dy = self.phase[1:, :] - self.phase[:-1, :]
		return dx.abs().mean() + dy.abs().mean()

	def step(self):
		intensity = self.reconstruct() * self.scale.view(-1, 1, 1)
		loss = ((intensity - self.targets) ** 2).mean() + self.args.tv * self.smoothness()
		self.optimizer.zero_grad()
		loss.backward()
		self.optimizer.step()
		# the SLM shows 0 .. 2 pi only
		self.phase.data.remainder_(2 * math.pi)
		self.history.append(loss.item())
		return loss.item()

	def run(self):
		for i in range(self.args.iters):
			loss = self.step()
			if i % self.args.log_every == 0:
				print('iter %d loss %.6f phase %.4f .. %.4f' % (i, loss, self.phase.min().item(), self.phase.max().item()))
		levels = torch.round(self.phase.detach() / (2 * math.pi) * 255)
		return levels


def make_targets(n):
	yy, xx = torch.meshgrid(torch.linspace(-1, 1, n), torch.linspace(-1, 1, n), indexing='ij')
	ring = ((xx ** 2 + yy ** 2).sqrt() - 0.6).abs() < 0.15
	bar = (xx.abs() < 0.2)
	return torch.stack([ring, bar]).float() * 2.0


if __name__ == '__main__':
	parser = argparse.ArgumentParser()
	parser.add_argument('--size', type=int, default=16)
	parser.add_argument('--iters', type=int, default=12)
	parser.add_argument('--lr', type=float, default=0.2)
	parser.add_argument('--tv', type=float, default=0.02)
	parser.add_argument('--log_every', type=int, default=2)
	parser.add_argument('--seed', type=int, default=4)
	args = parser.parse_args()
	torch.manual_seed(args.seed)
	hologram = HologramOptimizer(make_targets(args.size), args)
	levels = hologram.run()
	print('mean level %.4f' % levels.mean().item())
