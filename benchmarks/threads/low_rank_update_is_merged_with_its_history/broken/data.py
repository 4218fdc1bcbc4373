import torch


def batches(n, vocab, batch_size=8, length=10, seed=11):
    """A noisy second-order chain over a small vocabulary."""
    g = torch.Generator().manual_seed(seed)
    for _ in range(n):
        seq = [torch.randint(vocab, (batch_size,), generator=g) for _ in range(2)]
        for _ in range(length - 1):
            nxt = (seq[-1] + 2 * seq[-2] + 1) % vocab
            noise = torch.randint(vocab, (batch_size,), generator=g)
            keep = torch.rand(batch_size, generator=g) < 0.9
            seq.append(torch.where(keep, nxt, noise))
        yield torch.stack(seq, 1)
