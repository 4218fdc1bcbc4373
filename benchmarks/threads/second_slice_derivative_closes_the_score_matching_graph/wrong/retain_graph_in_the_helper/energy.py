import torch.nn as nn


class MLPEnergy(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(dim, hidden),
            nn.Softplus(),
            nn.Linear(hidden, hidden),
            nn.Softplus(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.main(x).squeeze(-1)
