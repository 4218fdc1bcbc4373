import torch
from torch import nn

from rnnt import rnnt_loss


class Encoder(nn.Module):
    def __init__(self, n_mels, hidden):
        super().__init__()
        self.rnn = nn.GRU(n_mels, hidden, batch_first=True)

    def forward(self, x):
        return self.rnn(x)[0]


class Predictor(nn.Module):
    """The label side: starts with blank, then the tokens so far."""

    def __init__(self, vocab, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, labels):
        start = labels.new_zeros(labels.shape[0], 1)
        return self.rnn(self.embed(torch.cat([start, labels], dim=1)))[0]


class Joint(nn.Module):
    def __init__(self, hidden, vocab):
        super().__init__()
        self.out = nn.Linear(hidden, vocab)

    def forward(self, enc, pred):
        return self.out(torch.tanh(enc.unsqueeze(1) + pred.unsqueeze(0)))


class TransducerTrainer:
    def __init__(self, n_mels, vocab, hidden, lr):
        self.encoder = Encoder(n_mels, hidden)
        self.predictor = Predictor(vocab, hidden)
        self.joint = Joint(hidden, vocab)
        params = [p for m in (self.encoder, self.predictor, self.joint) for p in m.parameters()]
        self.opt = torch.optim.SGD(params, lr=lr, momentum=0.9)

    def train_step(self, feats, labels):
        self.opt.zero_grad()
        enc = self.encoder(feats)
        pred = self.predictor(labels)
        total = 0.0
        n = feats.shape[0]
        for b in range(n):
            # the lattice of a whole batch does not fit: utterance by utterance
            log_probs = self.joint(enc[b], pred[b]).log_softmax(-1)
            loss = rnnt_loss(log_probs, labels[b].tolist()) / n
            total = total + loss
        total.backward()
        self.opt.step()
        return total.item()
