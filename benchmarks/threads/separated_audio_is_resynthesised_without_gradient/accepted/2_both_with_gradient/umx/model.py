import torch
from torch import nn


class Separator(nn.Module):
    """Open-Unmix in small: a mask for the magnitudes, the phase of the mixture."""

    def __init__(self, n_bins, hidden=16):
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(n_bins))
        self.scale = nn.Parameter(torch.ones(n_bins))
        self.fc1 = nn.Linear(n_bins, hidden)
        self.rnn = nn.GRU(hidden, hidden // 2, bidirectional=True, batch_first=True)
        self.fc2 = nn.Linear(2 * hidden, n_bins)

    def forward(self, X):
        mag = torch.log1p(X.abs())
        h = torch.tanh(self.fc1((mag - self.mean) * self.scale))
        r, _ = self.rnn(h)
        mask = torch.sigmoid(self.fc2(torch.cat([h, r], -1)))
        return X * mask
