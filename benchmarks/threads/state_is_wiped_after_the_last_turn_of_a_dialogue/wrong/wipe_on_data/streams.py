import numpy as np
import torch


class DialogueStreams:
	"""label 0/1: sign of what was said since the dialogue began, 2: opening turn"""
	n_in = 5

	def __init__(self, n_batches, batch, length, seed):
		rng = np.random.RandomState(seed)
		self.batches = []
		for _ in range(n_batches):
			x = rng.randn(batch, length, self.n_in).astype('float32')
			last = rng.rand(batch, length) < 0.2
			y = np.zeros((batch, length), dtype='int64')
			for b in range(batch):
				total, opening = 0., True
				for t in range(length):
					total += x[b, t, 0]
					y[b, t] = 2 if opening else int(total > 0)
					opening = False
					if last[b, t]:
						total, opening = 0., True
			self.batches.append((torch.from_numpy(x), torch.from_numpy(y), torch.from_numpy(last)))

	def __iter__(self):
		return iter(self.batches)
