import argparse

import torch
from torch import nn

from kws import KeywordSpotter, toy_batches


def run(cfg):
    torch.manual_seed(cfg.seed)
    model = KeywordSpotter(feat=6, hidden=cfg.hidden, layers=2, classes=4, bits=cfg.bits)
    opt = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9)
    ce = nn.CrossEntropyLoss()
    for i, (x, y) in enumerate(toy_batches(9, cfg.seed)):
        opt.zero_grad()
        loss = ce(model(x), y)
        loss.backward()
        opt.step()
        print("qat step %2d: %.6f" % (i, loss.item()))
    print("learned start: %.6f" % model.h0.abs().mean().item())


if __name__ == "__main__":
    p = argparse.ArgumentParser("quantisation aware training")
    p.add_argument("--seed", type=int, default=2)
    p.add_argument("--bits", type=int, default=8)
    p.add_argument("--hidden", type=int, default=10)
    p.add_argument("--lr", type=float, default=0.1)
    run(p.parse_args())
