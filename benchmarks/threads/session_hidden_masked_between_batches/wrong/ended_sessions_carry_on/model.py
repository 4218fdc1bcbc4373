import torch
from torch import nn


class GRU4REC(nn.Module):
    def __init__(self, n_items, hidden_size, num_layers=1):
        super(GRU4REC, self).__init__()
        self.hidden_size, self.num_layers = hidden_size, num_layers
        self.emb = nn.Embedding(n_items, 12)
        self.gru = nn.GRU(12, hidden_size, num_layers)
        self.h2o = nn.Linear(hidden_size, n_items)

    def forward(self, input, hidden):
        embedded = self.emb(input).unsqueeze(0)
        output, hidden = self.gru(embedded, hidden)
        logit = torch.tanh(self.h2o(output.view(-1, output.size(-1))))
        return logit, hidden

    def init_hidden(self, batch_size):
        return torch.zeros(self.num_layers, batch_size, self.hidden_size)

    def reset_hidden(self, hidden, mask):
        """Zero the rows of sessions that have ended; the others carry on."""
        if len(mask) != 0:
            hidden[:, mask, :] = 0
        return hidden
