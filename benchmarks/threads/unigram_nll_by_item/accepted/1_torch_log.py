import math
import torch
import torch.nn as nn

torch.manual_seed(7)
tags = ['O', 'PER', 'LOC']
tag2id = {t: i for i, t in enumerate(tags)}


class Tagger(nn.Module):
    def __init__(self, vocab=12, dim=8):
        super(Tagger, self).__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, len(tags))

    def forward(self, sents):
        h, _ = self.lstm(self.emb(sents))
        return torch.softmax(self.out(h), dim=-1)


def risk(probs, gold, prior):
    n = gold.numel()
    # cross entropy of every token, weighted by the class prior
    total = sum([-prior[int(g)] * torch.log(p[int(g)] + 1e-8)
                 for sent, golds in zip(probs, gold) for p, g in zip(sent, golds)])
    return total / n


def train_mini_batch(model, opt, sents, gold, prior):
    opt.zero_grad()
    loss = risk(model(sents), gold, prior)
    loss.backward()
    opt.step()
    return loss


model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
prior = [0.5, 1.5, 1.0]
for it in range(5):
    sents = torch.randint(0, 12, (4, 6))
    gold = sents % 3
    value = float(train_mini_batch(model, opt, sents, gold, prior))
print('risk = %.6f' % value)
