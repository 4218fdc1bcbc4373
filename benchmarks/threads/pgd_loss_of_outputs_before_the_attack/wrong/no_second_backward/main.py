# -*- coding: utf-8 -*-
import argparse

import torch
from torch import nn

from adversarial import PGD
from task import PGDTask, Task


class TextCNN(nn.Module):
    def __init__(self, vocab=30, dim=12, n_class=3):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.conv = nn.Conv1d(dim, 10, 3, padding=1)
        self.classifier = nn.Linear(10, n_class)

    def forward(self, input_ids, label_ids=None):
        x = self.embedding(input_ids).transpose(1, 2)
        x = torch.tanh(self.conv(x)).max(dim=2)[0]
        return self.classifier(x)


def build_dataset(n=32, length=9, vocab=30):
    ids = torch.randint(0, vocab, (n, length))
    labels = (ids.sum(1) % 3)
    return [{"input_ids": ids[i:i + 8], "label_ids": labels[i:i + 8]} for i in range(0, n, 8)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--adv", default="pgd", choices=["pgd", "none"])
    parser.add_argument("--adv_k", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()

    torch.manual_seed(2022)
    module = TextCNN()
    optimizer = torch.optim.SGD(module.parameters(), lr=args.lr, momentum=0.9)
    if args.adv == "pgd":
        task = PGDTask(module, optimizer, nn.CrossEntropyLoss(), K=args.adv_k)
    else:
        task = Task(module, optimizer, nn.CrossEntropyLoss())
    task.fit(build_dataset(), epochs=args.epochs)


if __name__ == "__main__":
    main()
