# -*- coding: utf-8 -*-
import argparse

import torch
import torch.nn as nn

from data import load_corpus, batchify, get_chunk
from model import CharRNN

parser = argparse.ArgumentParser(description="char-level GRU language model")
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--seq_len", type=int, default=20)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--lr", type=float, default=5e-3)
parser.add_argument("--clip", type=float, default=1.0)
parser.add_argument("--seed", type=int, default=1234)


class Trainer(object):
    """带状态(stateful)的训练器: 上一块的隐状态作为下一块的初始状态"""

    def __init__(self, model, args):
        self.model = model
        self.args = args
        self.hidden = None
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    def reset_state(self):
        self.hidden = self.model.init_hidden(self.args.batch_size)

    def train_chunk(self, x, y):
        self.optimizer.zero_grad()
        logits, hidden = self.model(x, self.hidden)
        loss = self.criterion(logits.reshape(-1, logits.size(-1)), y.reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.args.clip)
        self.optimizer.step()
        # 保存一份隐状态的拷贝, 和这一块的计算断开
        self.hidden = hidden.detach()
        return loss.item()

    def train_epoch(self, source):
        self.model.train()
        self.reset_state()
        total, n = 0.0, 0
        for pos in range(0, source.size(1) - self.args.seq_len - 1, self.args.seq_len):
            x, y = get_chunk(source, pos, self.args.seq_len)
            total += self.train_chunk(x, y)
            n += 1
        return total / n

    @torch.no_grad()
    def sample(self, start, length):
        self.model.eval()
        hidden = self.model.init_hidden(1)
        inp = torch.tensor([[start]])
        out = []
        for _ in range(length):
            logits, hidden = self.model(inp, hidden)
            inp = logits[:, -1].argmax(-1, keepdim=True)
            out.append(inp.item())
        return out


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    ids, chars = load_corpus()
    source = batchify(ids, args.batch_size)
    model = CharRNN(len(chars))
    trainer = Trainer(model, args)
    for epoch in range(1, args.epochs + 1):
        loss = trainer.train_epoch(source)
        print("epoch %d | loss %.6f | ppl %.6f" % (epoch, loss, torch.tensor(loss).exp().item()))
    print("|state| %.6f" % trainer.hidden.abs().mean().item())
    print("sample:", repr("".join(chars[i] for i in trainer.sample(chars.index("t"), 30))))


if __name__ == "__main__":
    main()
