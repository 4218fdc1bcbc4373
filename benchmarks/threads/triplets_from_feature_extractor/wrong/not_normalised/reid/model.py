from torch import nn


class Encoder(nn.Module):
    def __init__(self, inp, dim, hidden=10):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(inp, hidden), nn.LayerNorm(hidden), nn.ELU())
        self.neck = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.neck(self.backbone(x))
