import random

import torch


def build_corpus(n, seed, length=9):
    """实体由 20 以上的词组成,长度 1 到 3"""
    rng = random.Random(seed)
    corpus = []
    for _ in range(n):
        words, tags = [], []
        while len(words) < length:
            if rng.random() < 0.3:
                k = rng.randint(1, 3)
                words += [rng.randint(20, 29) for _ in range(k)]
                tags += [0] + [1] * (k - 1)
            words.append(rng.randint(0, 22))
            tags.append(2)
        corpus.append((words[:length], tags[:length]))
    return corpus


def iter_batches(corpus, size):
    for i in range(0, len(corpus), size):
        part = corpus[i:i + size]
        yield torch.tensor([w for w, _ in part]), torch.tensor([t for _, t in part])
