import torch
from torch import nn


class ContentEncoder(nn.Module):
    def __init__(self, mels, dim):
        super().__init__()
        self.conv = nn.Conv1d(mels, 24, 3, padding=1)
        self.out = nn.Conv1d(24, dim, 1)

    def forward(self, mel):
        h = torch.relu(self.conv(mel.transpose(1, 2)))
        return self.out(h).transpose(1, 2)


class SpeakerEncoder(nn.Module):
    def __init__(self, mels, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(mels, 24), nn.ReLU(), nn.Linear(24, dim))

    def forward(self, mel):
        return self.net(mel).mean(dim=1)


class Decoder(nn.Module):
    def __init__(self, content, speaker, mels):
        super().__init__()
        self.rnn = nn.GRU(content + speaker, 24, batch_first=True)
        self.out = nn.Linear(24, mels)

    def forward(self, z, s):
        h, _ = self.rnn(torch.cat([z, s.unsqueeze(1).expand(-1, z.shape[1], -1)], dim=-1))
        return self.out(h)
