import random

import torch

TOPICS = ["bread", "bike", "moon", "tax", "cat", "piano", "rain", "goal"]
ASK = ["how", "why", "what", "does", "is", "my"]
TELL = ["because", "it", "usually", "you", "should", "often"]
VOCAB = ["<pad>"] + TOPICS + [t + "s" for t in TOPICS] + ASK + TELL
IDS = {w: i for i, w in enumerate(VOCAB)}


def tokenize(sentences):
    rows = [[IDS[w] for w in s.split()] for s in sentences]
    width = max(map(len, rows))
    return torch.tensor([r + [0] * (width - len(r)) for r in rows])


class PairDataset:
    """question about two topics, answer with their plurals"""

    def __init__(self, n):
        rng = random.Random(8)
        self.rows = []
        for _ in range(n):
            a, b = rng.sample(TOPICS, 2)
            q = rng.sample(ASK, rng.randint(1, 3)) + [a, b]
            t = [b + "s"] + rng.sample(TELL, rng.randint(1, 4)) + [a + "s"]
            self.rows.append((" ".join(q), " ".join(t)))

    def batches(self, size):
        for i in range(0, len(self.rows), size):
            q, a = zip(*self.rows[i:i + size])
            yield list(q), list(a)
