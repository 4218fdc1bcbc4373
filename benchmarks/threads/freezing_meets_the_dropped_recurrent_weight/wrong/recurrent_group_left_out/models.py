import torch
from torch import nn
import torch.nn.functional as F


class Recurrent(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.weight_ih = nn.Parameter(torch.randn(hidden, dim) * 0.3)
        self.weight_hh = nn.Parameter(torch.randn(hidden, hidden) * 0.2)
        self.bias = nn.Parameter(torch.zeros(hidden))

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.bias.shape[0])
        for t in range(x.shape[1]):
            h = torch.tanh(F.linear(x[:, t], self.weight_ih, self.bias) + F.linear(h, self.weight_hh))
        return h


class WeightDropout(nn.Module):
    """Replaces some weights of `module` by a version with dropout, drawn in every forward."""

    def __init__(self, module, weight_p=0.3, name='weight_hh'):
        super().__init__()
        self.module, self.weight_p, self.name = module, weight_p, name
        w = module._parameters[name]
        self.register_parameter(name + '_raw', nn.Parameter(w.data))
        self._setweights()

    def _setweights(self):
        raw = getattr(self, self.name + '_raw')
        self.module._parameters[self.name] = F.dropout(raw, p=self.weight_p, training=True)

    def forward(self, x):
        self._setweights()
        return self.module(x)


class TextClassifier(nn.Module):
    def __init__(self, vocab, dim, hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = WeightDropout(Recurrent(dim, hidden))
        self.head = nn.Linear(hidden, 2)

    def forward(self, x):
        return self.head(self.rnn(self.emb(x)))

    def layer_groups(self):
        return [self.emb, self.head]
