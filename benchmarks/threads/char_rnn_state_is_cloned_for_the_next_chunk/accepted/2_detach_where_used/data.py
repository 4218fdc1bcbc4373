# -*- coding: utf-8 -*-
"""字符级语料: 一段反复改写的童谣"""
import torch

LINES = [
    "the cat sat on the mat and the rat ran past the hat",
    "a fat cat saw the rat and ran after the rat",
    "the rat hid in the hat and the cat sat on the hat",
    "then the mat had a cat and a rat and a hat",
]


def load_corpus(repeat=6):
    text = "\n".join(LINES * repeat)
    chars = sorted(set(text))
    stoi = {c: i for i, c in enumerate(chars)}
    ids = torch.tensor([stoi[c] for c in text], dtype=torch.long)
    return ids, chars


def batchify(ids, batch_size):
    # 把整段文本切成 batch_size 条平行的长序列
    n = ids.numel() // batch_size
    return ids[: n * batch_size].view(batch_size, n)


def get_chunk(source, pos, seq_len):
    x = source[:, pos:pos + seq_len]
    y = source[:, pos + 1:pos + 1 + seq_len]
    return x, y
