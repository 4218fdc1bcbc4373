#!/usr/bin/env python
"""Extends the vocabulary of a (toy) LM by domain terms and fine-tunes it.

New tokens start from the mean of their old sub-word pieces (https://nlp.stanford.edu/~johnhew/vocab-expansion.html)
"""
import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class GRULM(nn.Module):
    def __init__(self, vocab, dim=14, tie=True):
        super().__init__()
        self.encoder = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.decoder = nn.Linear(dim, vocab)
        if tie:
            self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.3, 0.3)

    def forward(self, ids):
        out, _ = self.rnn(self.encoder(ids))
        return self.decoder(out)


class FineTuner:
    def __init__(self, model, lr, new_tokens):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.02)
        self.sched = torch.optim.lr_scheduler.StepLR(self.optimizer, 3, gamma=0.7)
        self.add_tokens(new_tokens)

    def add_tokens(self, new_tokens):
        """new_tokens: {new id (a reserved row of the table): ids of the pieces}"""
        emb = self.model.encoder.weight
        for new_id, pieces in new_tokens.items():
            emb[new_id] = emb[pieces].mean(dim=0)
            print('new token', str(new_id), 'norm %.6f' % emb[new_id].norm().item())

    def step(self, ids):
        self.model.train()
        logits = self.model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.sched.step()
        return loss.item()


def parse():
    p = argparse.ArgumentParser()
    p.add_argument('--vocab', type=int, default=24)
    p.add_argument('--steps', type=int, default=6)
    p.add_argument('--lr', type=float, default=1e-2)
    p.add_argument('--fp16', action='store_true')
    return p.parse_args([])


if __name__ == '__main__':
    opt = parse()
    torch.manual_seed(42)
    lm = GRULM(opt.vocab)
    before = copy.deepcopy(lm.state_dict())
    reserved = {21: [1, 2], 22: [3, 4, 5], 23: [2, 6]}
    tuner = FineTuner(lm, opt.lr, reserved)
    for i in range(opt.steps):
        ids = (torch.randint(0, opt.vocab, (6, 1)) + torch.arange(8)) % opt.vocab
        print('%d %.6f' % (i, tuner.step(ids)))
    print('moved %.6f' % (lm.encoder.weight.detach() - before['encoder.weight']).norm().item())
    print('tied %.1f' % float(lm.encoder.weight is lm.decoder.weight))
