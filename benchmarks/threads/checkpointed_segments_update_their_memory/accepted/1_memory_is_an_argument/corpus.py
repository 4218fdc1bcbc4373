import torch


class Corpus:
    """A text with a long-range rule: every 10th token repeats the token 10 places before."""

    def __init__(self, seed, batch, vocab=11, length=49):
        g = torch.Generator().manual_seed(seed)
        t = torch.randint(vocab, (batch, length), generator=g)
        for i in range(10, length):
            if i % 10 < 4:
                t[:, i] = t[:, i - 10]
        self.vocab, self.text = vocab, t

    def segments(self, n):
        for i in range(0, self.text.size(1) - 1, n):
            yield self.text[:, i:i + n], self.text[:, i + 1:i + n + 1]
