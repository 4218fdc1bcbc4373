import torch


class Corpus:
    """Each token likes the one three further, with some noise."""

    def __init__(self, n_tokens, length):
        g = torch.Generator().manual_seed(3)
        self.vocab = ["w%d" % i for i in range(n_tokens)]
        ids = [0]
        for _ in range(length - 1):
            if torch.rand(1, generator=g).item() < 0.8:
                ids.append((ids[-1] + 3) % n_tokens)
            else:
                ids.append(int(torch.randint(0, n_tokens, (1,), generator=g)))
        self.ids = torch.tensor(ids)

    def batchify(self, bsz):
        nbatch = len(self.ids) // bsz
        return self.ids[: nbatch * bsz].view(bsz, -1).t().contiguous()


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].reshape(-1)
