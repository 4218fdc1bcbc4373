import torch


def batches(n, vocab, bs=8, length=7):
    for _ in range(n):
        start = torch.randint(0, vocab, (bs, 1))
        step = torch.randint(1, 3, (bs, 1))
        seq = (start + step * torch.arange(length + 1)) % vocab
        yield seq[:, :-1], seq[:, 1:]
