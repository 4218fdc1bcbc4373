import argparse
from itertools import combinations

import numpy as np
import torch
import torch.nn as nn


class EmbeddingNet(nn.Module):
	def __init__(self, n_emb=6):
		super(EmbeddingNet, self).__init__()
		self.convnet = nn.Sequential(nn.Conv2d(1, 6, 3), nn.PReLU(), nn.MaxPool2d(2, stride=2), nn.Conv2d(6, 8, 3), nn.PReLU(), nn.MaxPool2d(2, stride=2))
		self.fc = nn.Sequential(nn.Linear(8 * 2 * 2, 24), nn.PReLU(), nn.Linear(24, n_emb))

	def forward(self, x):
		output = self.convnet(x)
		output = output.view(output.size()[0], -1)
		return self.fc(output)

	def get_embedding(self, x):
		return self.forward(x)


class EmbeddingNetL2(EmbeddingNet):
	def forward(self, x):
		output = super(EmbeddingNetL2, self).forward(x)
		return output


class TripletSelector:
	"""all anchor-positive pairs, hardest negative w.r.t. cosine"""

	def get_triplets(self, embeddings, labels):
		sim = (embeddings @ embeddings.t()).detach().numpy()
		labels = labels.numpy()
		triplets = []
		for label in np.unique(labels):
			inside = np.where(labels == label)[0]
			outside = np.where(labels != label)[0]
			for a, p in combinations(inside, 2):
				triplets.append([a, p, outside[np.argmax(sim[a, outside])]])
		return torch.as_tensor(np.array(triplets), dtype=torch.long)


class OnlineRankingLoss(nn.Module):
	def __init__(self, margin, selector):
		super().__init__()
		self.rank = nn.MarginRankingLoss(margin=margin)
		self.selector = selector

	def forward(self, emb, target):
		tri = self.selector.get_triplets(emb, target)
		ap = (emb[tri[:, 0]] * emb[tri[:, 1]]).sum(1)
		an = (emb[tri[:, 0]] * emb[tri[:, 2]]).sum(1)
		return self.rank(ap, an, torch.ones_like(ap)), len(tri)


def balanced_batches(n_batches, n_classes, n_samples, rng):
	protos = rng.randn(n_classes, 1, 14, 14).astype(np.float32)
	for _ in range(n_batches):
		x = np.concatenate([p[None] + 0.7 * rng.randn(n_samples, 1, 14, 14).astype(np.float32) for p in protos])
		y = np.repeat(np.arange(n_classes), n_samples)
		yield torch.from_numpy(x), torch.from_numpy(y)


def fit(loader, model, loss_fn, optimizer, log_interval=1):
	model.train()
	for batch_idx, (data, target) in enumerate(loader):
		optimizer.zero_grad()
		outputs = model(data)
		loss, n_triplets = loss_fn(outputs, target)
		loss.backward()
		optimizer.step()
		if batch_idx % log_interval == 0:
			print('Train: [{}]\tLoss: {:.6f}\tAverage nonzero triplets: {}'.format(batch_idx, loss.item(), n_triplets))


if __name__ == '__main__':
	ap = argparse.ArgumentParser()
	ap.add_argument('--margin', type=float, default=0.2)  # FaceNet
	ap.add_argument('--lr', type=float, default=5e-3)
	ap.add_argument('--no-l2', action='store_true')
	args = ap.parse_args()
	torch.manual_seed(0)
	model = EmbeddingNet() if args.no_l2 else EmbeddingNetL2()
	opt = torch.optim.Adam(model.parameters(), lr=args.lr)
	fit(balanced_batches(6, 4, 4, np.random.RandomState(29)), model, OnlineRankingLoss(args.margin, TripletSelector()), opt)
