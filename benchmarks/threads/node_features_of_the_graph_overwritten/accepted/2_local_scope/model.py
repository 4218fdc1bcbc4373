import torch
import torch.nn as nn
import torch.nn.functional as F


class GatedConv(nn.Module):
    def __init__(self, dim, dropout):
        super().__init__()
        self.msg = nn.Linear(dim, dim)
        self.self_loop = nn.Linear(dim, dim, bias=False)
        self.gate = nn.Linear(2 * dim, dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, g, h):
        m = g.copy_u_mean(self.msg(h))
        z = torch.sigmoid(self.gate(torch.cat([h, m], dim=1)))
        return self.drop(F.relu(z * m + (1 - z) * self.self_loop(h)))


class GatedGCN(nn.Module):
    def __init__(self, dim, classes, layers, dropout=0.1):
        super().__init__()
        self.convs = nn.ModuleList([GatedConv(dim, dropout) for _ in range(layers)])
        self.readout = nn.Linear(dim, classes)

    def forward(self, g):
        with g.local_scope():
            for conv in self.convs:
                g.ndata["h"] = conv(g, g.ndata["h"])
            return self.readout(g.ndata["h"])
