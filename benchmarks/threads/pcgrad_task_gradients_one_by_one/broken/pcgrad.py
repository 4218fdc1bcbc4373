import torch


class PCGrad:
	"""Gradient surgery (Yu et al. 2020) around any optimizer.

	shared params get the projected sum, everything else the plain gradient of its own task
	"""

	def __init__(self, optimizer, shared, reduction='sum'):
		self.optim = optimizer
		self.shared = list(shared)
		self.reduction = reduction
		self.conflicts = 0

	def zero_grad(self):
		self.optim.zero_grad(set_to_none=True)

	def step(self):
		self.optim.step()

	def _flat(self, grads):
		return torch.cat([g.reshape(-1) for g in grads])

	def _project(self, flats):
		out = [g.clone() for g in flats]
		for i, g in enumerate(out):
			for j, other in enumerate(flats):
				if i == j:
					continue
				dot = torch.dot(g, other)
				if dot < 0:
					self.conflicts += 1
					g -= dot / other.norm() ** 2 * other
		return out

	def pc_backward(self, losses, heads):
		flats = []
		for loss, head in zip(losses, heads):
			own = list(head.parameters())
			grads = torch.autograd.grad(loss, self.shared + own)
			flats.append(self._flat(grads[:len(self.shared)]))
			for p, g in zip(own, grads[len(self.shared):]):
				p.grad = g
		merged = sum(self._project(flats))
		if self.reduction == 'mean':
			merged = merged / len(flats)
		at = 0
		for p in self.shared:
			p.grad = merged[at:at + p.numel()].view_as(p).clone()
			at += p.numel()
