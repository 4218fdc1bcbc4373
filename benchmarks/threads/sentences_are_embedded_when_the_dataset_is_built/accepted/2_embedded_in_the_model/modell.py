import torch.nn as nn


class SatzKlassifikator(nn.Module):
    def __init__(self, embedding, breite=12):
        super().__init__()
        dim = embedding.embedding_dim
        self.embed = [embedding]
        self.gru = nn.GRU(dim, breite, batch_first=True)
        self.dropout = nn.Dropout(0.1)
        self.aus = nn.Linear(breite, 2)

    def forward(self, x):
        _, h = self.gru(self.embed[0](x))
        return self.aus(self.dropout(h[-1]))
