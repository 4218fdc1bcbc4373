#!/usr/bin/env python
# coding: utf-8
# Sentence classification with FreeLB ("free" large-batch adversarial training):
# K ascent steps on a perturbation of the word embeddings, the gradients of the
# parameters are accumulated over all K steps, one optimizer step at the end.

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

PAD = 0


def build_corpus(n, vocab=60, max_len=12, seed=0):
    rng = np.random.RandomState(seed)
    polarity = np.random.RandomState(99).randn(vocab)
    ids = np.zeros((n, max_len), dtype=np.int64)
    labels = np.zeros(n, dtype=np.int64)
    for i in range(n):
        length = rng.randint(5, max_len + 1)
        words = rng.randint(1, vocab, size=length)
        ids[i, :length] = words
        labels[i] = int(polarity[words].sum() > 0)
    return torch.from_numpy(ids), torch.from_numpy(labels)


class LSTMClassifier(nn.Module):
    def __init__(self, vocab, emb_dim, hidden):
        super().__init__()
        self.embeddings = nn.Embedding(vocab, emb_dim, padding_idx=PAD)
        self.lstm = nn.LSTM(emb_dim, hidden, batch_first=True, bidirectional=True)
        self.cls = nn.Linear(2 * hidden, 2)

    def forward(self, input_ids=None, mask=None, inputs_embeds=None):
        if inputs_embeds is None:
            inputs_embeds = self.embeddings(input_ids)
        out, _ = self.lstm(inputs_embeds)
        mask = mask.unsqueeze(-1)
        pooled = (out * mask).sum(1) / mask.sum(1)
        return self.cls(pooled)


def init_delta(embeds, mask, mag):
    dims = mask.sum(1) * embeds.size(-1)
    delta = torch.empty_like(embeds).uniform_(-1, 1) * mask.unsqueeze(2)
    return (delta * (mag / torch.sqrt(dims)).view(-1, 1, 1)).detach()


def train_step(model, optimizer, input_ids, labels, args):
    mask = (input_ids != PAD).float()
    optimizer.zero_grad()

    embeds_init = model.embeddings(input_ids)
    delta = init_delta(embeds_init, mask, args.adv_init_mag)

    total = 0.0
    for astep in range(args.adv_steps):
        # (1) forward + backward at the current perturbation
        delta.requires_grad_()
        logits = model(mask=mask, inputs_embeds=delta + embeds_init)
        loss = F.cross_entropy(logits, labels) / args.adv_steps
        total += loss.item()

        if astep == args.adv_steps - 1:
            loss.backward()
            break

        # (2) ascent on delta, normalised by sentence
        delta_grad = torch.autograd.grad(loss, delta)[0].contiguous()
        denorm = delta_grad.view(delta_grad.size(0), -1).norm(dim=1).view(-1, 1, 1).clamp(min=1e-8)
        delta = (delta + args.adv_lr * delta_grad / denorm).detach()

        # (3) back into the ball
        if args.adv_max_norm > 0:
            delta_norm = delta.view(delta.size(0), -1).norm(dim=1)
            exceed = (delta_norm > args.adv_max_norm).to(delta)
            scale = args.adv_max_norm / delta_norm * exceed + (1 - exceed)
            delta = (delta * scale.view(-1, 1, 1)).detach()

    nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
    optimizer.step()
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--adv_steps', default=3, type=int)
    parser.add_argument('--adv_lr', default=0.3, type=float)
    parser.add_argument('--adv_init_mag', default=0.3, type=float)
    parser.add_argument('--adv_max_norm', default=0.8, type=float)
    parser.add_argument('--max_grad_norm', default=1.0, type=float)
    parser.add_argument('--epochs', default=2, type=int)
    parser.add_argument('--batch', default=32, type=int)
    args = parser.parse_args()

    torch.manual_seed(42)
    ids, labels = build_corpus(256, seed=1)
    dev_ids, dev_labels = build_corpus(256, seed=2)
    model = LSTMClassifier(60, 16, 16)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    for epoch in range(args.epochs):
        perm = torch.randperm(len(ids))
        running = 0.0
        for i in range(0, len(ids), args.batch):
            idx = perm[i:i + args.batch]
            running += train_step(model, optimizer, ids[idx], labels[idx], args)
        with torch.no_grad():
            pred = model(dev_ids, (dev_ids != PAD).float()).argmax(1)
        print('epoch %d | loss %.6f | dev acc %.6f' %
              (epoch, running / (len(ids) / args.batch), (pred == dev_labels).float().mean().item()))
    print('embedding norm %.6f' % model.embeddings.weight.norm().item())


if __name__ == '__main__':
    main()
