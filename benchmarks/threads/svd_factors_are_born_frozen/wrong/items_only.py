#!/usr/bin/env python
# BPR fine-tuning of SVD factors (implicit feedback)
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

config = {
    'n_users': 30,
    'n_items': 40,
    'dim': 6,
    'finetune_embeddings': True,     # SVD is only the starting point
    'batch_size': 64,
    'lr': 2e-2,
    'reg': 1e-3,
    'epochs': 3,
    'seed': 2024,
}


def make_interactions(cfg):
    rng = np.random.RandomState(cfg['seed'])
    taste, style = rng.randn(cfg['n_users'], 3), rng.randn(cfg['n_items'], 3)
    p = 1 / (1 + np.exp(-(1.2 * taste @ style.T - 1.5)))
    r = (rng.rand(*p.shape) < p).astype(np.float32)
    test = np.zeros_like(r)
    for u in range(cfg['n_users']):
        seen = np.flatnonzero(r[u])
        if len(seen) > 2:
            held = rng.choice(seen)
            r[u, held], test[u, held] = 0, 1
    return r, test


def svd_factors(r, dim):
    u, s, vt = np.linalg.svd(r, full_matrices=False)
    root = np.sqrt(s[:dim])
    return torch.from_numpy(u[:, :dim] * root), torch.from_numpy(vt[:dim].T * root)


class BPRData(Dataset):
    def __init__(self, r, seed):
        self.r, self.rng = r, np.random.RandomState(seed)
        self.pairs = np.argwhere(r > 0)

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, k):
        u, i = self.pairs[k]
        j = self.rng.randint(self.r.shape[1])
        while self.r[u, j] > 0:
            j = self.rng.randint(self.r.shape[1])
        return int(u), int(i), int(j)


class PretrainedMF(nn.Module):
    def __init__(self, user_factors, item_factors):
        super().__init__()
        self.user_embedding = nn.Embedding.from_pretrained(user_factors.float())
        self.item_embedding = nn.Embedding.from_pretrained(item_factors.float(), freeze=False)

    def forward(self, user, item):
        return (self.user_embedding(user) * self.item_embedding(item)).sum(-1)

    def calculate_loss(self, user, pos, neg, reg):
        u, i, j = self.user_embedding(user), self.item_embedding(pos), self.item_embedding(neg)
        x = (u * i).sum(-1) - (u * j).sum(-1)
        l2 = (u.pow(2).sum() + i.pow(2).sum() + j.pow(2).sum()) / len(user)
        return -F.logsigmoid(x).mean() + reg * l2

    @torch.no_grad()
    def full_sort_predict(self):
        return self.user_embedding.weight @ self.item_embedding.weight.t()


def hit_at(model, r, test, k=5):
    scores = model.full_sort_predict().masked_fill(torch.from_numpy(r) > 0, -1e9)
    top = scores.topk(k, dim=1).indices
    hits = torch.from_numpy(test).gather(1, top).sum(1)
    return hits[torch.from_numpy(test).sum(1) > 0].mean().item()


def main(cfg):
    torch.manual_seed(cfg['seed'])
    r, test = make_interactions(cfg)
    model = PretrainedMF(*svd_factors(r, cfg['dim']))
    loader = DataLoader(BPRData(r, cfg['seed']), batch_size=cfg['batch_size'], shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg['lr'])
    print('start  hit@5 %.4f' % hit_at(model, r, test))
    for epoch in range(cfg['epochs']):
        total = 0.
        for user, pos, neg in loader:
            optimizer.zero_grad()
            loss = model.calculate_loss(user, pos, neg, cfg['reg'])
            loss.backward()
            optimizer.step()
            total += loss.item()
        print('epoch %d  loss %.5f  hit@5 %.4f' % (epoch, total / len(loader), hit_at(model, r, test)))
    print('norms %.5f %.5f' % (model.user_embedding.weight.norm().item(), model.item_embedding.weight.norm().item()))


if __name__ == '__main__':
    main(config)
