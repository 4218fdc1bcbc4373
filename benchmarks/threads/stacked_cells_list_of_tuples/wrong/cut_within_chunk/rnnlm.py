import torch
from torch import nn


class RNNModel(nn.Module):
    def __init__(self, ntoken, nhid, nlayers):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, nhid)
        self.cells = nn.ModuleList(nn.LSTMCell(nhid, nhid) for _ in range(nlayers))
        self.decoder = nn.Linear(nhid, ntoken)

    def init_hidden(self, bsz):
        return [(torch.zeros(bsz, c.hidden_size), torch.zeros(bsz, c.hidden_size)) for c in self.cells]

    def forward(self, tokens, hidden):
        outputs = []
        for token in tokens:
            x, fresh = self.encoder(token), []
            for cell, state in zip(self.cells, hidden):
                state = cell(x, state)
                x = state[0]
                fresh.append((state[0].detach(), state[1].detach()))
            hidden = fresh
            outputs.append(self.decoder(x))
        return torch.cat(outputs), hidden
