import torch


def identities(n, batches, per=3, noise=0.7):
    centres = torch.randn(n, 5)

    def batch():
        y = torch.arange(n).repeat_interleave(per)
        return centres[y] + noise * torch.randn(len(y), 5), y

    return [batch() for _ in range(batches)], batch()
