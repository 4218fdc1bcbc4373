import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, vocab_size, emb_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb_size)
        self.gru = nn.GRU(emb_size, hidden_size, batch_first=True)

    def forward(self, src):
        outputs, hidden = self.gru(self.embedding(src))
        return outputs, hidden[0]


class LuongDecoder(nn.Module):
    """Global attention with input feeding: the attentional vector of a word
    is part of the input of the next word."""

    def __init__(self, vocab_size, emb_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(vocab_size, emb_size)
        self.cell = nn.GRUCell(emb_size + hidden_size, hidden_size)
        self.attn = nn.Linear(hidden_size, hidden_size, bias=False)
        self.concat = nn.Linear(2 * hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, vocab_size)
        self.hidden = None
        self.attn_vector = None

    def init_state(self, encoder_hidden):
        """to be called at the beginning of every batch of sentences"""
        self.hidden = encoder_hidden
        if self.attn_vector is not None:
            self.attn_vector = self.attn_vector.detach()

    def forward(self, word, encoder_outputs):
        if self.attn_vector is None:
            self.attn_vector = torch.zeros(word.size(0), self.hidden_size)
        x = torch.cat([self.embedding(word), self.attn_vector], dim=1)
        self.hidden = self.cell(x, self.hidden)
        scores = torch.bmm(encoder_outputs, self.attn(self.hidden).unsqueeze(2)).squeeze(2)
        weights = F.softmax(scores, dim=1)
        context = torch.bmm(weights.unsqueeze(1), encoder_outputs).squeeze(1)
        self.attn_vector = torch.tanh(self.concat(torch.cat([self.hidden, context], dim=1)))
        return self.out(self.attn_vector)
