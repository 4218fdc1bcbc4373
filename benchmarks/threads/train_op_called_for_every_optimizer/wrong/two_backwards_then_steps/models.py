import torch
from torch import nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, src):
        return self.rnn(self.emb(src))


class Decoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.att = nn.Linear(hidden, hidden, bias=False)
        self.out = nn.Linear(2 * hidden, vocab)

    def forward(self, prev, memory, state):
        h, state = self.rnn(self.emb(prev), state)
        score = torch.bmm(self.att(h), memory.transpose(1, 2))
        ctx = torch.bmm(F.softmax(score, dim=-1), memory)
        return self.out(torch.cat([h, ctx], dim=-1)), state


class AttentionSeq2Seq(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.encoder = Encoder(vocab, hidden)
        self.decoder = Decoder(vocab, hidden)

    def calculate_loss(self, batch):
        src, tgt = batch
        memory, state = self.encoder(src)
        logits, _ = self.decoder(tgt[:, :-1], memory, state)
        return F.cross_entropy(logits.reshape(-1, logits.size(-1)), tgt[:, 1:].reshape(-1))
