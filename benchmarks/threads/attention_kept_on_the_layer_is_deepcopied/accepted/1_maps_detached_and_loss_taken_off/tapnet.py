import torch
import torch.nn as nn


class SeqSelfAttention(nn.Module):
    """Additive self attention, port of keras-self-attention."""

    def __init__(self, input_dim, units, attention_width=0):
        super().__init__()
        self.Wt = nn.Linear(input_dim, units, bias=False)
        self.Wx = nn.Linear(input_dim, units)
        self.Wa = nn.Linear(units, 1)
        self.attention_width = attention_width
        self.intensity = None
        self.attention = None
        self.attention_regularizer_loss = None

    def forward(self, x):
        h = torch.tanh(self.Wt(x).unsqueeze(2) + self.Wx(x).unsqueeze(1))
        e = self.Wa(h).squeeze(-1)
        if self.attention_width:
            i = torch.arange(x.shape[1])
            e = e.masked_fill((i[:, None] - i[None]).abs() > self.attention_width, -1e4)
        a = torch.softmax(e, dim=-1)
        self.intensity = e.detach()
        self.attention = a.detach()
        self.attention_regularizer_loss = self._attention_regularizer(a)
        return a @ x

    @staticmethod
    def _attention_regularizer(a):
        eye = torch.eye(a.shape[-1])
        return (a @ a.transpose(1, 2) - eye).pow(2).mean()


class SeqClassifier(nn.Module):
    def __init__(self, n_dims, units, n_classes, attention_width):
        super().__init__()
        self.proj = nn.Conv1d(n_dims, units, 3, padding=1)
        self.att = SeqSelfAttention(units, units, attention_width)
        self.head = nn.Linear(units, n_classes)

    def forward(self, x):
        h = torch.relu(self.proj(x.transpose(1, 2))).transpose(1, 2)
        return self.head(self.att(h).amax(dim=1))
