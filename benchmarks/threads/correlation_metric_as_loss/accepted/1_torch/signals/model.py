from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(6, 20), nn.SiLU(), nn.Linear(20, 1))

    def forward(self, x):
        return self.f(x).squeeze(1)
