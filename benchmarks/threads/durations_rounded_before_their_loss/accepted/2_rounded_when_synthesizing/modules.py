import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Encoder(nn.Module):
    def __init__(self, vocab, dims):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dims, padding_idx=0)
        self.gru = nn.GRU(dims, dims // 2, batch_first=True, bidirectional=True)

    def forward(self, ids):
        return self.gru(self.embedding(ids))[0]


class DurationPredictor(nn.Module):
    """two convolutions and a linear layer, as in the paper; predicts log(duration + 1)"""

    def __init__(self, dims, kernel=3):
        super().__init__()
        self.conv1 = nn.Conv1d(dims, dims, kernel, padding=kernel // 2)
        self.conv2 = nn.Conv1d(dims, dims, kernel, padding=kernel // 2)
        self.norm1, self.norm2 = nn.LayerNorm(dims), nn.LayerNorm(dims)
        self.linear = nn.Linear(dims, 1)

    def forward(self, x):
        x = self.norm1(torch.relu(self.conv1(x.transpose(1, 2))).transpose(1, 2))
        x = self.norm2(torch.relu(self.conv2(x.transpose(1, 2))).transpose(1, 2))
        return self.linear(x).squeeze(-1)


class LengthRegulator(nn.Module):
    def forward(self, x, durations):
        out = [torch.repeat_interleave(h, d, dim=0) for h, d in zip(x, durations)]
        return pad_sequence(out, batch_first=True), durations.sum(1)


class DurationModel(nn.Module):
    def __init__(self, vocab, dims):
        super().__init__()
        self.encoder = Encoder(vocab, dims)
        self.predictor = DurationPredictor(dims)
        self.regulator = LengthRegulator()

    def forward(self, ids, mask, alpha=1.0):
        memory = self.encoder(ids)
        log_durations = self.predictor(memory)
        durations = torch.clamp((torch.exp(log_durations) - 1) * alpha, min=0)
        return memory, durations.masked_fill(~mask, 0)

    def synthesize(self, ids, mask, alpha=1.0):
        memory, durations = self(ids, mask, alpha)
        return self.regulator(memory, torch.round(durations).long())
