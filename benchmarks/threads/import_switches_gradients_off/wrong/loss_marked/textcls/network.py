import torch
import torch.nn as nn
import torch.nn.functional as F


class TextCNN(nn.Module):
    def __init__(self, vocab, dim, classes, widths=(2, 3), channels=8, drop=0.1):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.convs = nn.ModuleList(nn.Conv1d(dim, channels, w) for w in widths)
        self.drop, self.fc = nn.Dropout(drop), nn.Linear(channels * len(widths), classes)

    def forward(self, tokens):
        x = self.embed(tokens).transpose(1, 2)
        x = torch.cat([F.relu(c(x)).amax(2) for c in self.convs], 1)
        return self.fc(self.drop(x))
