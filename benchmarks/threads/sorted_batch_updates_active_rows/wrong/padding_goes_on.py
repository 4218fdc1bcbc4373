import argparse
import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

# 可变长度序列分类：按长度降序排列，每一步只计算还没有结束的序列


class VarLenEncoder(nn.Module):
    def __init__(self, vocab, emb, hid, layers=2, dropout=0.0):
        super().__init__()
        self.hid, self.layers = hid, layers
        self.embed = nn.Embedding(vocab, emb, padding_idx=0)
        self.cells = nn.ModuleList([nn.GRUCell(emb if i == 0 else hid, hid) for i in range(layers)])
        self.norm = nn.LayerNorm(hid)
        self.drop = nn.Dropout(dropout)

    def initial_state(self, batch):
        return [torch.zeros(batch, self.hid) for _ in range(self.layers)]

    def forward(self, tokens, lengths):
        """tokens: (T, B), lengths: (B,) in descending order"""
        x = self.drop(self.embed(tokens))
        state = self.initial_state(tokens.size(1))
        for t in range(tokens.size(0)):
            n_active = tokens.size(1)     # 前 n_active 行仍在进行
            inp = x[t, :n_active]
            for i, cell in enumerate(self.cells):
                state[i] = cell(inp, state[i])
                inp = self.norm(state[i])
        return state[-1]


class Classifier(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.encoder = VarLenEncoder(args.vocab, args.emb, args.hid)
        self.out = nn.Linear(args.hid, args.classes)

    def forward(self, tokens, lengths):
        return self.out(self.encoder(tokens, lengths))


class Corpus:
    def __init__(self, args):
        g = torch.Generator().manual_seed(args.seed)
        self.samples = []
        for _ in range(args.n):
            length = int(torch.randint(2, 9, (1,), generator=g))
            seq = torch.randint(1, args.vocab, (length,), generator=g)
            label = int((seq > args.vocab // 2).sum() * 2 > length)
            self.samples.append((seq, label))

    def batches(self, size):
        order = torch.randperm(len(self.samples)).tolist()
        for i in range(0, len(order), size):
            chosen = sorted((self.samples[j] for j in order[i:i + size]), key=lambda s: -len(s[0]))
            lengths = torch.tensor([len(s) for s, _ in chosen])
            yield pad_sequence([s for s, _ in chosen]), lengths, torch.tensor([y for _, y in chosen])


def run_epoch(model, corpus, args, optimizer=None):
    total, correct, count = 0.0, 0, 0
    for tokens, lengths, y in corpus.batches(args.batch):
        logits = model(tokens, lengths)
        loss = F.cross_entropy(logits, y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(model.parameters(), args.clip)
            optimizer.step()
        total += loss.item() * len(y)
        correct += (logits.argmax(1) == y).sum().item()
        count += len(y)
    return total / count, correct / count


def main():
    ap = argparse.ArgumentParser()
    for name, default in dict(seed=9, n=48, vocab=20, emb=8, hid=12, classes=2, batch=16, epochs=2, clip=0.5, lr=5e-3).items():
        ap.add_argument('--' + name, type=type(default), default=default)
    args = ap.parse_args([])
    torch.manual_seed(args.seed)
    model, corpus = Classifier(args), Corpus(args)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    with torch.no_grad():
        print('before: loss %.6f acc %.3f' % run_epoch(model, corpus, args))
    for e in range(args.epochs):
        print('epoch %d:' % e, 'loss %.6f acc %.3f' % run_epoch(model, corpus, args, opt))


if __name__ == '__main__':
    main()
