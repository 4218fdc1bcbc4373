# -*- coding: utf-8 -*-
import argparse

import torch
import torch.nn.functional as F

import data
from model import PairClassifier

parser = argparse.ArgumentParser()
parser.add_argument('--pool', default='mean+max')
parser.add_argument('--epochs', type=int, default=4)
parser.add_argument('--batch_size', type=int, default=20)
parser.add_argument('--lr', type=float, default=0.01)
args = parser.parse_args()

torch.manual_seed(2024)
train, dev = data.pairs(160, seed=1), data.pairs(60, seed=2)
net = PairClassifier(data.VOCAB, args.pool)
optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)

for epoch in range(args.epochs):
    net.train()
    total = 0.
    for i in range(0, len(train), args.batch_size):
        a, b, y = data.collate(train[i:i + args.batch_size])
        loss = F.cross_entropy(net(a, b), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)

    net.eval()
    with torch.no_grad():
        a, b, y = data.collate(dev)
        logits = net(a, b)
        acc = (logits.argmax(1) == y).float().mean().item()
        dev_loss = F.cross_entropy(logits, y).item()
    print('epoch %d train loss %.6f dev loss %.6f dev acc %.6f' % (epoch, total / len(train), dev_loss, acc))
