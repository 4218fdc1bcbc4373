import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, n_in, dim):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(n_in, dim), nn.Linear(dim, dim)

    def forward(self, regions):
        return self.fc2(torch.relu(self.fc1(regions)))


class Decoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.cell = nn.GRUCell(2 * dim, dim)
        self.out = nn.Linear(dim, vocab)
        self.dim = dim

    def forward(self, features, tokens):
        h = features.mean(0, keepdim=True)
        logits = []
        prev = torch.zeros(1, dtype=torch.long)
        for t in range(tokens.shape[0]):
            alpha = torch.softmax(features @ h[0], 0)
            ctx = (alpha[:, None] * features).sum(0, keepdim=True)
            h = self.cell(torch.cat([self.emb(prev), ctx], 1), h)
            logits.append(self.out(h))
            prev = tokens[t:t + 1]
        return torch.cat(logits)
