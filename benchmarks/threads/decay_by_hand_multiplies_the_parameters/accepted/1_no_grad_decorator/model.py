import torch
import torch.nn as nn


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.GRU(ninp, nhid)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid = nhid

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.encoder(x), hidden)
        return self.decoder(out).flatten(0, 1), hidden

    def init_hidden(self, bsz):
        return torch.zeros(1, bsz, self.nhid)

    @torch.no_grad()
    def weight_norm(self):
        return sum(p.pow(2).sum() for p in self.parameters()).sqrt().item()
