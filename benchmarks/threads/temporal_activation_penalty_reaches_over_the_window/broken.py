"""Character language model on shell history, LSTM with AR/TAR regularisation (Merity et al.)."""
import argparse
import math
import os
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


COMMANDS = [
    "git status", "git commit -m fix", "ls -la src", "cd ../data", "python train.py --lr 3e-4",
    "grep -rn TODO .", "make clean all", "ssh gpu01", "tail -f log.txt", "du -sh *",
]


def build_corpus(n_lines, seed):
    g = torch.Generator().manual_seed(seed)
    picks = torch.randint(len(COMMANDS), (n_lines,), generator=g).tolist()
    text = "\n".join(COMMANDS[i] for i in picks)
    chars = sorted(set("\n".join(COMMANDS) + "\n"))
    stoi = {c: i for i, c in enumerate(chars)}
    return torch.tensor([stoi[c] for c in text]), len(chars)


def batchify(ids, bsz):
    n = ids.numel() // bsz
    return ids[: n * bsz].view(bsz, n).t().contiguous()


def repackage_hidden(h):
    """Wraps hidden states in new tensors, to detach them from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


class LockedDropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        mask = x.new_empty(1, x.size(1), x.size(2)).bernoulli_(1 - self.p) / (1 - self.p)
        return x * mask


class CharLM(nn.Module):
    def __init__(self, ntoken, emsize, nhid, dropout):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, emsize)
        self.rnn = nn.LSTM(emsize, nhid)
        self.proj = nn.Linear(nhid, emsize)
        self.decoder = nn.Linear(emsize, ntoken)
        self.decoder.weight = self.encoder.weight
        self.lockdrop = LockedDropout(dropout)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def init_hidden(self, bsz):
        w = self.proj.weight
        return (w.new_zeros(1, bsz, self.rnn.hidden_size), w.new_zeros(1, bsz, self.rnn.hidden_size))

    def forward(self, ids, hidden):
        raw, hidden = self.rnn(self.lockdrop(self.encoder(ids)), hidden)
        dropped = self.lockdrop(raw)
        logits = self.decoder(self.proj(dropped))
        return logits, hidden, raw, dropped


class ActivationPenalty:
    """alpha * L2 of the dropped outputs plus beta * L2 of the change between neighbouring steps."""

    def __init__(self, alpha, beta):
        self.alpha, self.beta = alpha, beta
        self.tail = None

    def reset(self):
        self.tail = None

    def __call__(self, raw, dropped):
        ar = self.alpha * dropped.pow(2).mean()
        steps = raw if self.tail is None else torch.cat([self.tail, raw])
        tar = self.beta * (steps[1:] - steps[:-1]).pow(2).mean()
        self.tail = raw[-1:]
        return ar + tar


def evaluate(model, data, bptt):
    model.eval()
    total, hidden = 0.0, model.init_hidden(data.size(1))
    with torch.no_grad():
        for i in range(0, data.size(0) - 1, bptt):
            n = min(bptt, data.size(0) - 1 - i)
            logits, hidden, _, _ = model(data[i:i + n], hidden)
            total += n * F.cross_entropy(logits.flatten(0, 1), data[i + 1:i + 1 + n].flatten()).item()
    return total / (data.size(0) - 1)


def train_epoch(model, data, optimizer, penalty, args):
    model.train()
    hidden = model.init_hidden(args.batch_size)
    penalty.reset()
    total, batches = 0.0, 0
    for i in range(0, data.size(0) - 1, args.bptt):
        n = min(args.bptt, data.size(0) - 1 - i)
        x, y = data[i:i + n], data[i + 1:i + 1 + n]
        hidden = repackage_hidden(hidden)
        optimizer.zero_grad()
        logits, hidden, raw, dropped = model(x, hidden)
        ce = F.cross_entropy(logits.flatten(0, 1), y.flatten())
        loss = ce + penalty(raw, dropped)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        total += ce.item()
        batches += 1
        if batches % args.log_interval == 0:
            print(f"  | window {batches:3d} | ce {ce.item():.6f} | total {loss.item():.6f}")
    return total / batches


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--bptt", type=int, default=12)
    p.add_argument("--batch_size", type=int, default=6)
    p.add_argument("--alpha", type=float, default=2.0)
    p.add_argument("--beta", type=float, default=5.0)
    p.add_argument("--clip", type=float, default=0.25)
    p.add_argument("--log_interval", type=int, default=3)
    p.add_argument("--seed", type=int, default=1111)
    args = p.parse_args()
    torch.manual_seed(args.seed)

    ids, ntoken = build_corpus(40, seed=3)
    valid, _ = build_corpus(10, seed=4)
    train_data, valid_data = batchify(ids, args.batch_size), batchify(valid, 2)
    model = CharLM(ntoken, 24, 32, 0.2)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1.2e-6)
    penalty = ActivationPenalty(args.alpha, args.beta)
    best, path = math.inf, os.path.join(tempfile.mkdtemp(), "lm.pt")
    for epoch in range(1, args.epochs + 1):
        start = time.time()
        train_ce = train_epoch(model, train_data, optimizer, penalty, args)
        val_ce = evaluate(model, valid_data, args.bptt)
        assert time.time() >= start
        print(f"epoch {epoch} train {train_ce:.6f} valid {val_ce:.6f} bpc {val_ce / math.log(2):.6f}")
        if val_ce < best:
            best = val_ce
            torch.save(model.state_dict(), path)


if __name__ == "__main__":
    main()
