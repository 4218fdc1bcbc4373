import torch

SOS = 0


class ReverseTask:
    """Sentences of random words, the 'translation' is the sentence read backwards."""

    def __init__(self, n, vocab_size, length=5, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.src = torch.randint(1, vocab_size, (n, length), generator=g)
        self.trg = self.src.flip(1)

    def batches(self, batch_size):
        for i in range(0, len(self.src), batch_size):
            yield self.src[i:i + batch_size], self.trg[i:i + batch_size]
