import torch


class LMOrderedIterator:
    """Consecutive segments of parallel streams, as word-level language models are trained on."""

    def __init__(self, data, bsz, bptt):
        n_step = data.size(0) // bsz
        self.data = data[:n_step * bsz].view(bsz, -1).t().contiguous()
        self.bptt = bptt

    def __iter__(self):
        for i in range(0, self.data.size(0) - self.bptt, self.bptt):
            yield self.data[i:i + self.bptt], self.data[i + 1:i + 1 + self.bptt]


def toy_corpus(n_token=11, length=240):
    tokens = [0]
    for noise in torch.randint(0, 3, (length,)).tolist():
        tokens.append((tokens[-1] * 2 + noise + 1) % n_token)
    return torch.tensor(tokens)
