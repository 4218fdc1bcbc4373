""" Sentiment classification with an RNN. Aggregation of the states: last, mean or attention """
from __future__ import division
import argparse
import math

import torch
import torch.nn as nn


def clip_gradient(model, clip):
    """Computes a gradient clipping coefficient based on gradient norm."""
    totalnorm = 0
    for p in model.parameters():
        modulenorm = p.data.norm()
        totalnorm += modulenorm ** 2
    totalnorm = math.sqrt(totalnorm)
    return min(1, clip / (totalnorm + 1e-6))


class Attention(nn.Module):
    def __init__(self, nhid):
        super(Attention, self).__init__()
        self.proj = nn.Linear(nhid, nhid)
        self.query = nn.Parameter(torch.randn(nhid) * 0.1)

    def forward(self, states):
        score = torch.tanh(self.proj(states)).matmul(self.query)
        return (torch.softmax(score, dim=1).unsqueeze(-1) * states).sum(1)


class RNNModel(nn.Module):
    def __init__(self, args):
        super(RNNModel, self).__init__()
        self.args = args
        self.encoder = nn.Embedding(args.vocab, args.embedding_size)
        self.rnn = nn.LSTM(args.embedding_size, args.nhid, batch_first=True)
        self.att = Attention(args.nhid)
        self.decoder = nn.Linear(args.nhid, 2)

    def forward(self, x):
        states, _ = self.rnn(self.encoder(x))
        if self.args.aggregation == 'attention':
            final = self.att(states)
        elif self.args.aggregation == 'mean':
            final = states.mean(1)
        else:
            final = states[:, -1]
        return self.decoder(final)


class Experiment:
    def __init__(self, args):
        self.args = args
        self.mdl = RNNModel(args)
        self.optimizer = torch.optim.SGD(self.mdl.parameters(), lr=args.lr, momentum=0.5)
        self.criterion = nn.CrossEntropyLoss()
        self.make_data()

    def make_data(self, n=32, length=8):
        self.x = torch.randint(0, self.args.vocab, (n, length))
        half = self.args.vocab // 2
        self.y = ((self.x >= half).float().mean(1) > 0.5).long()

    def train_batch(self, i):
        sentence = self.x[i:i + self.args.batch_size]
        targets = self.y[i:i + self.args.batch_size]
        self.mdl.zero_grad()
        output = self.mdl(sentence)
        loss = self.criterion(output * self.args.scale, targets)
        loss.backward()
        if self.args.clip_norm > 0:
            coeff = clip_gradient(self.mdl, self.args.clip_norm)
            for p in self.mdl.parameters():
                if p.grad is not None:
                    p.grad.mul_(coeff)
        self.optimizer.step()
        return loss.item()

    def train(self):
        for epoch in range(self.args.epochs):
            losses = [self.train_batch(i) for i in range(0, len(self.x), self.args.batch_size)]
            print("[Epoch {}] Train Loss={:.6f}".format(epoch, sum(losses) / len(losses)))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument("--aggregation", default="last", help="{mean,last,attention}")
    parser.add_argument("--vocab", type=int, default=20)
    parser.add_argument("--embedding-size", type=int, default=8)
    parser.add_argument("--nhid", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--scale", type=float, default=6.0)
    parser.add_argument("--clip-norm", type=float, default=0.25)
    parser.add_argument("--dropout", type=float, default=0.5)  # ignored for now
    args = parser.parse_args()
    torch.manual_seed(1111)
    Experiment(args).train()
