import torch


class KVCache:
    """Keys and values of the tokens so far, in buffers of the full length."""

    def __init__(self, batch, length, heads, d_head):
        self.k = torch.zeros(batch, heads, length, d_head)
        self.v = torch.zeros(batch, heads, length, d_head)
        self.pos = 0

    def update(self, k, v):
        n = k.shape[2]
        self.k[:, :, self.pos:self.pos + n] = k
        self.v[:, :, self.pos:self.pos + n] = v
        self.pos += n
        return k, v
