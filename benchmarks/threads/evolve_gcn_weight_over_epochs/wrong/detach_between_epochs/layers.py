import math

import torch
from torch import nn


def glorot(t):
    stdv = math.sqrt(6.0 / (t.size(-2) + t.size(-1)))
    nn.init.uniform_(t, -stdv, stdv)


class EvolveGCNO(nn.Module):
    r"""-O version of EvolveGCN: the weight of the graph convolution is the hidden state of a GRU,

        W_t = GRU(W_{t-1}),    H_t = A_t X_t W_t,

    where W_0 (``initial_weight``) is learned together with the GRU.
    """

    def __init__(self, channels):
        super().__init__()
        self.channels = channels
        self.initial_weight = nn.Parameter(torch.empty(channels, channels))
        self.rnn = nn.GRU(channels, channels, batch_first=False)
        self.weight = None
        self.reset_parameters()

    def reset_parameters(self):
        glorot(self.initial_weight)

    def forward(self, x, adj):
        weight = self.initial_weight if self.weight is None else self.weight     # t = 0 or later
        w = weight[None]
        _, w = self.rnn(w, w)
        self.weight = w.squeeze(0)
        return adj @ (x @ self.weight)


class RecurrentGCN(nn.Module):
    def __init__(self, node_features, hidden=None):
        super().__init__()
        self.recurrent = EvolveGCNO(node_features)
        self.linear = nn.Linear(node_features, 1)

    def forward(self, x, adj):
        h = torch.relu(self.recurrent(x, adj))
        return self.linear(h)
