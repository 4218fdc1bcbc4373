# coding: utf-8
"""Character model over a small generated corpus, truncated BPTT as in the word language model example."""
import argparse
import math

import torch
import torch.nn as nn

parser = argparse.ArgumentParser(description='PyTorch RNN/LSTM character model')
parser.add_argument('--model', type=str, default='LSTM', help='type of net (LSTM, GRU)')
parser.add_argument('--emsize', type=int, default=12)
parser.add_argument('--nhid', type=int, default=24)
parser.add_argument('--nlayers', type=int, default=2)
parser.add_argument('--lr', type=float, default=4.0)
parser.add_argument('--clip', type=float, default=0.25)
parser.add_argument('--epochs', type=int, default=3)
parser.add_argument('--batch_size', type=int, default=8)
parser.add_argument('--bptt', type=int, default=10)
parser.add_argument('--seed', type=int, default=1111)
args = parser.parse_args()

torch.manual_seed(args.seed)

###############################################################################
# Load data
###############################################################################

text = ''.join('the %s sat on the %s and saw %d of them . ' % (a, b, i % 7)
               for i in range(12) for a, b in [('cat', 'mat'), ('dog', 'log'), ('hen', 'pen')])
vocab = sorted(set(text))
ids = torch.tensor([vocab.index(c) for c in text])


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous()


train_data = batchify(ids[:-300], args.batch_size)
val_data = batchify(ids[-300:], args.batch_size)

###############################################################################
# Build the model
###############################################################################


class RNNModel(nn.Module):
    """Container module with an encoder, a recurrent module, and a decoder."""

    def __init__(self, rnn_type, ntoken, ninp, nhid, nlayers):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = getattr(nn, rnn_type)(ninp, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)
        self.rnn_type, self.nhid, self.nlayers = rnn_type, nhid, nlayers
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        if self.rnn_type == 'LSTM':
            return (weight.new_zeros(self.nlayers, bsz, self.nhid),
                    weight.new_zeros(self.nlayers, bsz, self.nhid))
        return weight.new_zeros(self.nlayers, bsz, self.nhid)


ntokens = len(vocab)
model = RNNModel(args.model, ntokens, args.emsize, args.nhid, args.nlayers)
criterion = nn.CrossEntropyLoss()


def repackage_hidden(h):
    """Wraps hidden states in new Tensors, to detach them from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def get_batch(source, i):
    seq_len = min(args.bptt, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].reshape(-1)


def evaluate(source):
    model.eval()
    total_loss = 0.
    hidden = model.init_hidden(args.batch_size)
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, args.bptt):
            data, targets = get_batch(source, i)
            output, hidden = model(data, hidden)
            total_loss += len(data) * criterion(output.view(-1, ntokens), targets).item()
    return total_loss / (len(source) - 1)


def train():
    model.train()
    total_loss = 0.
    hidden = model.init_hidden(args.batch_size)
    for batch, i in enumerate(range(0, train_data.size(0) - 1, args.bptt)):
        data, targets = get_batch(train_data, i)
        # Starting each batch, we detach the hidden state from how it was previously produced.
        # If we didn't, the model would try backpropagating all the way to start of the dataset.
        hidden = (hidden[0].detach(), hidden[1])
        model.zero_grad()
        output, hidden = model(data, hidden)
        loss = criterion(output.view(-1, ntokens), targets)
        loss.backward()
        # `clip_grad_norm` helps prevent the exploding gradient problem in RNNs / LSTMs.
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        total_loss += loss.item()
    return total_loss / (batch + 1)


lr = args.lr
best_val_loss = None
for epoch in range(1, args.epochs + 1):
    train_loss = train()
    val_loss = evaluate(val_data)
    print('| epoch {:d} | lr {:.2f} | train loss {:.6f} | valid loss {:.6f} | ppl {:.4f}'.format(
        epoch, lr, train_loss, val_loss, math.exp(val_loss)))
    if best_val_loss is None or val_loss < best_val_loss:
        best_val_loss = val_loss
    else:
        lr /= 4.0
print('best {:.6f}'.format(best_val_loss))
