#!/usr/bin/env python
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

# ---------------------------------------------------------------- data
VOCAB = ['<pad>', 'the', 'film', 'was', 'good', 'bad', 'awful', 'great', 'plot', 'not', 'very', 'boring']
W2I = {w: i for i, w in enumerate(VOCAB)}
TRAIN = [('the film was good', 1), ('the film was bad', 0), ('the plot was very boring', 0), ('the plot was great', 1),
         ('not good', 0), ('not bad', 1), ('very very great film', 1), ('awful plot', 0)]


def encode(sents, width=5):
    out = torch.zeros(len(sents), width, dtype=torch.long)
    for r, s in enumerate(sents):
        for c, w in enumerate(s.split()):
            out[r, c] = W2I[w]
    return out


def load_vectors(dim, seed):
    """stands in for glove.6B.50d.txt; numpy gives double"""
    rng = np.random.RandomState(seed)
    table = rng.normal(scale=.4, size=(len(VOCAB), dim))
    table[0] = 0
    return table


# ---------------------------------------------------------------- model
class GatedReader(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.table = torch.tensor(load_vectors(dim, 3), dtype=torch.float, requires_grad=True)
        self.gru = nn.GRU(dim, hidden, batch_first=True, bidirectional=True)
        self.attn = nn.Linear(2 * hidden, 1)
        self.out = nn.Linear(2 * hidden, 2)

    def forward(self, tokens):
        mask = tokens != 0
        h, _ = self.gru(F.embedding(tokens, self.table, padding_idx=0))
        a = self.attn(h).squeeze(-1).masked_fill(~mask, -1e9).softmax(-1)
        return self.out((a.unsqueeze(-1) * h).sum(1))


def param_groups(model, lr):
    # word vectors move slowly
    return [{'params': [model.table], 'lr': lr * 0.1}, {'params': model.parameters(), 'lr': lr}]


if __name__ == '__main__':
    torch.manual_seed(17)
    model = GatedReader(8, 10)
    optimizer = torch.optim.SGD(param_groups(model, 0.4), momentum=0.9)
    x, y = encode([s for s, _ in TRAIN]), torch.tensor([l for _, l in TRAIN])
    before = model.table.detach().clone()
    for epoch in range(8):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 2 == 1:
            moved = (model.table.detach() - before).norm().item()
            print(f'{epoch:3d}  loss {loss.item():.5f}  vectors moved {moved:.5f}')
