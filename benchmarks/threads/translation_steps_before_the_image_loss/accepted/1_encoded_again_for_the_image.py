"""多模态翻译（玩具）：共享编码器，翻译解码器 + 图像检索头，两个优化器都含编码器"""
import itertools
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def set_seed(s):
    random.seed(s); np.random.seed(s); torch.manual_seed(s)


class Encoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)

    def forward(self, src):
        out, h = self.rnn(self.emb(src))
        return out, h[-1]


class Decoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tgt, h):
        o, _ = self.rnn(self.emb(tgt), h.unsqueeze(0).contiguous())
        return self.out(o)


class Imagine(nn.Module):
    """句子向量 -> 图像特征空间"""

    def __init__(self, dim, img):
        super().__init__()
        self.fc = nn.Linear(dim, img)

    def forward(self, out):
        return F.normalize(self.fc(out.mean(1)), dim=1)


def hinge(v, img, margin=0.2):
    sim = v @ img.t()
    gap = (margin - sim.diag().unsqueeze(1) + sim).clamp(min=0)
    return (gap * (1 - torch.eye(len(v)))).mean()


class MNMT:
    def __init__(self, vocab=11, dim=10, img=6, lr=4e-3):
        self.encoder, self.decoder, self.imagine = Encoder(vocab, dim), Decoder(vocab, dim), Imagine(dim, img)
        self.opt_mt = torch.optim.Adam(itertools.chain(self.encoder.parameters(), self.decoder.parameters()), lr=lr)
        self.opt_img = torch.optim.Adam(itertools.chain(self.encoder.parameters(), self.imagine.parameters()), lr=lr)

    def step(self, src, tgt, img):
        out, h = self.encoder(src)

        # 翻译
        logits = self.decoder(tgt[:, :-1], h)
        loss_mt = F.cross_entropy(logits.reshape(-1, logits.size(-1)), tgt[:, 1:].reshape(-1))
        self.opt_mt.zero_grad()
        loss_mt.backward()
        self.opt_mt.step()

        # 图像检索
        out, _ = self.encoder(src)
        loss_img = hinge(self.imagine(out), img)
        self.opt_img.zero_grad()
        loss_img.backward()
        self.opt_img.step()
        return loss_mt.item(), loss_img.item()


def captions(n, vocab, img):
    src = torch.randint(0, vocab, (n, 5))
    tgt = torch.cat([torch.zeros(n, 1, dtype=torch.long), (src + 1) % vocab], 1)
    table = torch.randn(vocab, img)
    return src, tgt, F.normalize(table[src].mean(1), dim=1)


if __name__ == "__main__":
    set_seed(1234)
    model = MNMT()
    data = captions(24, 11, 6)
    for epoch in range(2):
        for i in range(0, 24, 8):
            mt, im = model.step(*[d[i:i + 8] for d in data])
        print('epoch %d  mt=%.6f  img=%.6f' % (epoch, mt, im))
