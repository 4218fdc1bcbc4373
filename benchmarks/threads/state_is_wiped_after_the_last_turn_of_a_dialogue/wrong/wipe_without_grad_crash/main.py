"""Turn labelling of support dialogues. Several dialogues follow each other in one
stream, so the recurrent state has to be emptied after the last turn of each."""
import numpy as np
import torch
import torch.nn.functional as F

from streams import DialogueStreams
from tagger import TurnTagger


class Trainer:
	def __init__(self, model, streams, lr=5e-3, clip=1.0):
		self.model = model
		self.streams = streams
		self.clip = clip
		self.opt = torch.optim.Adam(model.parameters(), lr=lr)

	def run_epoch(self):
		losses, hits, n = [], 0, 0
		for x, y, last in self.streams:
			logits = self.model(x, last)
			loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
			self.opt.zero_grad()
			loss.backward()
			torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
			self.opt.step()
			losses.append(loss.item())
			hits += (logits.argmax(-1) == y).sum().item()
			n += y.numel()
		return np.mean(losses), hits / n


def main():
	torch.manual_seed(11)
	streams = DialogueStreams(n_batches=6, batch=8, length=20, seed=11)
	model = TurnTagger(n_in=streams.n_in, n_hidden=24, n_labels=3)
	trainer = Trainer(model, streams)
	for epoch in range(4):
		loss, acc = trainer.run_epoch()
		print('epoch %d | loss %.6f | acc %.6f' % (epoch, loss, acc))


if __name__ == '__main__':
	main()
