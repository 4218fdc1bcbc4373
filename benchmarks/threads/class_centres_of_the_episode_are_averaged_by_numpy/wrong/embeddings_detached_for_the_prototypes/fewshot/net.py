import torch.nn as nn


def block(cin, cout):
    return nn.Sequential(nn.Conv1d(cin, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU(), nn.MaxPool1d(2))


class CallEncoder(nn.Module):
    """(batch, mel bands, frames) -> (batch, dim)"""

    def __init__(self, n_mels, width, dim):
        super().__init__()
        self.features = nn.Sequential(block(n_mels, width), block(width, width))
        self.head = nn.Linear(width, dim)

    def forward(self, mel):
        return self.head(self.features(mel).mean(-1))
