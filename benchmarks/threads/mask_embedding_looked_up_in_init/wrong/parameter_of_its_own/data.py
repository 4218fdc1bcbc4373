# -*- coding: utf-8 -*-
import torch


def make_corpus(n, length, vocab, error_rate=0.25):
    """随机造句，再按比例替换成错字。0 是 [PAD]，1 是 [MASK]。"""
    right = torch.randint(2, vocab, (n, length))
    noise = torch.randint(2, vocab, (n, length))
    flags = torch.rand(n, length) < error_rate
    wrong = torch.where(flags, noise, right)
    return wrong, right, (wrong != right).float()


def iterate(corpus, batch_size):
    wrong, right, flags = corpus
    for i in range(0, len(wrong), batch_size):
        j = i + batch_size
        yield wrong[i:j], right[i:j], flags[i:j]
