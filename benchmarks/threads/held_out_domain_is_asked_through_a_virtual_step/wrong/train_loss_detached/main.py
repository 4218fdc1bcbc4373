import random
from collections import OrderedDict

import torch
import torch.nn.functional as F

from domains import Domains
from net import MLP

flags = dict(iterations=30, batch=16, lr=0.1, meta_step_size=1.0, meta_val_beta=1.0, seed=0)


class ModelMLDG(object):
	def __init__(self, flags):
		random.seed(flags['seed'])
		torch.manual_seed(flags['seed'])
		self.flags = flags
		self.domains = Domains()
		self.network = MLP()
		self.optimizer = torch.optim.SGD(self.network.parameters(), lr=flags['lr'], momentum=0.9)

	def batch(self, domain):
		x, y = domain
		idx = torch.randint(0, len(y), (self.flags['batch'],))
		return x[idx], y[idx]

	def meta_update(self, meta_train, meta_val):
		"""Learning to generalize (MLDG): F(theta) + beta * G(theta - alpha * F'(theta)).
		G is differentiated all the way to theta, through the virtual step,
		so that the gradients of the domains are brought into agreement."""
		meta_train_loss = 0
		for x, y in meta_train:
			meta_train_loss = meta_train_loss + F.cross_entropy(self.network(x), y)
		meta_train_loss = meta_train_loss / len(meta_train)

		params = OrderedDict(self.network.named_parameters())
		grads = torch.autograd.grad(meta_train_loss, list(params.values()))
		fast = OrderedDict((name, p - self.flags['meta_step_size'] * g)
		                   for (name, p), g in zip(params.items(), grads))

		x, y = meta_val
		meta_val_loss = F.cross_entropy(self.network(x, fast), y)

		total_loss = meta_train_loss.detach() + self.flags['meta_val_beta'] * meta_val_loss
		self.optimizer.zero_grad()
		total_loss.backward()
		self.optimizer.step()
		return meta_train_loss.item(), meta_val_loss.item()

	def train(self):
		for ite in range(self.flags['iterations']):
			batches = [self.batch(d) for d in self.domains.sources()]
			held_out = random.randrange(len(batches))
			meta_val = batches.pop(held_out)
			tr, va = self.meta_update(batches, meta_val)
			if ite % 5 == 4:
				print('ite: %d  meta train loss: %.6f  meta val loss: %.6f' % (ite + 1, tr, va))

	def heldout_test(self):
		x, y = self.domains.unseen()
		with torch.no_grad():
			out = self.network(x)
			print('unseen domain: loss %.6f accuracy %.6f' % (F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()))


if __name__ == '__main__':
	model = ModelMLDG(flags)
	model.train()
	model.heldout_test()
