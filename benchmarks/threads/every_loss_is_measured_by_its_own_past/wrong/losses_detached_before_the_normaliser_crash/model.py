import torch.nn as nn


class MultiTaskNet(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.energy = nn.Linear(hidden, 1)
        self.gap = nn.Linear(hidden, 1)
        self.metal = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.body(x)
        return {"energy": self.energy(h).squeeze(-1),
                "gap": self.gap(h).squeeze(-1),
                "metal": self.metal(h).squeeze(-1)}
