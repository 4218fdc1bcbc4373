import torch.nn as nn


class SatzKlassifikator(nn.Module):
    def __init__(self, dim, breite=12):
        super().__init__()
        self.gru = nn.GRU(dim, breite, batch_first=True)
        self.dropout = nn.Dropout(0.1)
        self.aus = nn.Linear(breite, 2)

    def forward(self, x):
        _, h = self.gru(x)
        return self.aus(self.dropout(h[-1]))
