import torch


class Arithmetic:
    """counts up with a stride, modulo the vocabulary"""

    def __init__(self, vocab, length):
        self.vocab, self.length = vocab, length

    def batch(self, n, gen=None):
        a = torch.randint(self.vocab, (n, 1), generator=gen)
        d = torch.randint(1, 4, (n, 1), generator=gen)
        return (a + d * torch.arange(self.length)) % self.vocab
