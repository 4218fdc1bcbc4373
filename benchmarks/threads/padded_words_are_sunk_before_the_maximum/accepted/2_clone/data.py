# -*- coding: utf-8 -*-
"""玩具版 NLI 数据:两句话是否谈论同一个主题。"""
import random

import torch

PAD = 0
TOPICS = 3
WORDS_PER_TOPIC = 12
VOCAB = 1 + TOPICS * WORDS_PER_TOPIC


def sentence(topic, rng):
    length = rng.randint(3, 9)
    words = []
    for _ in range(length):
        t = topic if rng.random() < 0.8 else rng.randrange(TOPICS)
        words.append(1 + t * WORDS_PER_TOPIC + rng.randrange(WORDS_PER_TOPIC))
    return words


def pairs(n, seed):
    rng = random.Random(seed)
    out = []
    for _ in range(n):
        a, b = rng.randrange(TOPICS), rng.randrange(TOPICS)
        if rng.random() < 0.4:
            b = a
        out.append((sentence(a, rng), sentence(b, rng), int(a == b)))
    return out


def collate(batch):
    def pad(sents):
        width = max(len(s) for s in sents)
        return torch.tensor([s + [PAD] * (width - len(s)) for s in sents])
    a, b, y = zip(*batch)
    return pad(a), pad(b), torch.tensor(y)
