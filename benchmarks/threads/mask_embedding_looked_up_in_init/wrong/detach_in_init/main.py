# -*- coding: utf-8 -*-
"""中文拼写纠错：Soft-Masked 检测 + 纠正，两个损失按 lambda 加权。"""
import argparse

import torch
from torch import nn

from data import make_corpus, iterate
from model import SoftMaskedCorrector


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=24)
    parser.add_argument("--dim", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=12)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--gamma", type=float, default=0.7, help="纠正损失的权重")
    parser.add_argument("--fp16", action="store_true")  # 没用上
    parser.add_argument("--seed", type=int, default=11)
    return parser.parse_args()


class Trainer:
    def __init__(self, args, model):
        self.args = args
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
        self.det_loss = nn.BCELoss()
        self.cor_loss = nn.CrossEntropyLoss()

    def train_epoch(self, corpus):
        self.model.train()
        total = 0.0
        for wrong, right, flags in iterate(corpus, self.args.batch_size):
            prob, logits = self.model(wrong)
            d = self.det_loss(prob.squeeze(-1), flags)
            c = self.cor_loss(logits.reshape(-1, logits.size(-1)), right.reshape(-1))
            loss = (1 - self.args.gamma) * d + self.args.gamma * c
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    corpus = make_corpus(24, 7, args.vocab)
    model = SoftMaskedCorrector(args.vocab, args.dim, args.hidden, mask_id=1)
    trainer = Trainer(args, model)
    for epoch in range(args.epochs):
        print("epoch %d loss %.6f" % (epoch, trainer.train_epoch(corpus)))
    print("mask row norm %.6f" % model.embedding.weight[1].norm().item())


if __name__ == "__main__":
    main()
