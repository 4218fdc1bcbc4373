# -*- coding: utf-8 -*-
"""NER tagger, embeddings + window + CRF"""
import argparse, random
import torch
from torch import optim
from tagger import Tagger

TAGS = ['O', 'B-PER', 'I-PER', 'B-LOC', 'I-LOC']


def toy_corpus(n, vocab):
    rnd = random.Random(3)
    data = []
    for _ in range(n):
        L = rnd.randint(3, 9)
        words = [rnd.randrange(2, vocab) for _ in range(L)]
        tags = [0 if w % 3 else (1 if w % 2 else 3) for w in words]
        for i in range(1, L):
            if tags[i] == 0 and tags[i - 1] in (1, 3) and words[i] % 5 == 0:
                tags[i] = tags[i - 1] + 1
        data.append((words, tags))
    return data


def collate(batch):
    batch = sorted(batch, key=lambda p: -len(p[0]))
    T = max(len(w) for w, _ in batch)
    words = torch.zeros(len(batch), T, dtype=torch.long)
    tags = torch.zeros(len(batch), T, dtype=torch.long)
    mask = torch.zeros(len(batch), T, dtype=torch.bool)
    for i, (w, t) in enumerate(batch):
        words[i, :len(w)], tags[i, :len(t)], mask[i, :len(w)] = torch.tensor(w), torch.tensor(t), True
    return words, tags, mask


def main():
    pa = argparse.ArgumentParser()
    pa.add_argument('--batch', type=int, default=6)
    pa.add_argument('--epoch', type=int, default=2)
    pa.add_argument('--vocab', type=int, default=40)
    pa.add_argument('--clip', type=float, default=5.)
    opt = pa.parse_args()
    torch.manual_seed(8)

    data = toy_corpus(24, opt.vocab)
    model = Tagger(opt.vocab, len(TAGS))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for ep in range(opt.epoch):
        total = 0.
        for b in range(0, len(data), opt.batch):
            words, tags, mask = collate(data[b:b + opt.batch])
            model.zero_grad()
            loss = model.neg_log_likelihood(words, tags, mask)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), opt.clip)
            optimizer.step()
            total += loss.item()
            print('  batch %d nll %.6f' % (b // opt.batch, loss.item()))
        print('epoch %d total %.6f' % (ep, total))


if __name__ == '__main__':
    main()
