import math

import torch
import torch.nn as nn

torch.manual_seed(1111)

TEXT = """the quick brown fox jumps over the lazy dog while the small cat sleeps
under the old tree and the river runs slowly down to the sea where ships
wait for the wind and sailors sing of home """ * 6

BATCH = 8
BPTT = 20
EMSIZE, NHID, NLAYERS = 16, 32, 2
LR, CLIP, EPOCHS = 5e-3, 0.25, 4


class Corpus:
    def __init__(self, text):
        self.chars = sorted(set(text))
        self.index = {c: i for i, c in enumerate(self.chars)}
        self.ids = torch.tensor([self.index[c] for c in text])

    def batchify(self, bsz):
        nbatch = self.ids.size(0) // bsz
        return self.ids[:nbatch * bsz].view(bsz, -1).t().contiguous()


def get_batch(source, i):
    seq_len = min(BPTT, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].reshape(-1)


class StatefulGRU(nn.Module):
    """Character model that goes on from where the last batch ended.

    The states are kept layer by layer, so that a layer can be reset on its own.
    """

    def __init__(self, ntoken, ninp, nhid, nlayers, dropout=0.1):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.GRU(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid, self.nlayers = nhid, nlayers
        self.states = None

    def reset_states(self, bsz, layers=None):
        if self.states is None or layers is None:
            self.states = [torch.zeros(bsz, self.nhid) for _ in range(self.nlayers)]
            return
        for l in layers:
            self.states[l] = torch.zeros(bsz, self.nhid)

    def detach_states(self):
        self.states = [s.detach() for s in self.states]

    def forward(self, x):
        emb = self.drop(self.encoder(x))
        out, hn = self.rnn(emb, torch.stack(self.states))
        self.states = list(hn)
        return self.decoder(self.drop(out))


def train_epoch(model, data, criterion, optimizer, ntoken):
    model.train()
    model.reset_states(BATCH)
    total, n = 0.0, 0
    for i in range(0, data.size(0) - 1, BPTT):
        x, y = get_batch(data, i)
        model.detach_states()
        optimizer.zero_grad()
        out = model(x)
        loss = criterion(out.view(-1, ntoken), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        total += loss.item() * len(y)
        n += len(y)
    return total / n


@torch.no_grad()
def generate(model, corpus, prompt, length):
    model.eval()
    model.reset_states(1)
    text = prompt
    x = torch.tensor([[corpus.index[c]] for c in prompt])
    for _ in range(length):
        out = model(x)
        nxt = out[-1, 0].argmax()
        text += corpus.chars[nxt]
        x = nxt.view(1, 1)
    return text


corpus = Corpus(TEXT)
ntoken = len(corpus.chars)
data = corpus.batchify(BATCH)
model = StatefulGRU(ntoken, EMSIZE, NHID, NLAYERS)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=LR)

for epoch in range(1, EPOCHS + 1):
    loss = train_epoch(model, data, criterion, optimizer, ntoken)
    print("| epoch {:d} | loss {:.4f} | ppl {:.3f}".format(epoch, loss, math.exp(loss)))
print(repr(generate(model, corpus, "the ", 30)))
