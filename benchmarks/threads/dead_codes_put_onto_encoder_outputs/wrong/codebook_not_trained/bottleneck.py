import torch
from torch import nn
import torch.nn.functional as F


class Bottleneck(nn.Module):
    """Vector quantiser with a learned codebook (no EMA) and random restarts, cf. Jukebox.

    A code whose average use falls below ``threshold`` is put onto a random encoder output of the batch.
    """

    def __init__(self, n_codes, dim, threshold=0.3, mu=0.7, beta=0.25):
        super().__init__()
        self.codebook = nn.Embedding(n_codes, dim)
        nn.init.uniform_(self.codebook.weight, -1 / n_codes, 1 / n_codes)
        self.codebook.weight.requires_grad_(False)
        self.register_buffer("usage", torch.ones(n_codes))
        self.threshold, self.mu, self.beta = threshold, mu, beta
        self.restarted = 0

    def distances(self, z):
        w = self.codebook.weight
        return z.pow(2).sum(1, keepdim=True) - 2 * z @ w.t() + w.pow(2).sum(1)

    def restart_dead_codes(self, z):
        dead = self.usage < self.threshold
        n_dead = int(dead.sum())
        if n_dead == 0:
            return
        perm = torch.randperm(len(z))[:n_dead]
        self.codebook.weight[dead] = z[perm].detach()
        self.usage[dead] = 1.0
        self.restarted += n_dead

    def forward(self, h):
        b, c, t = h.shape
        z = h.permute(0, 2, 1).reshape(-1, c)
        if self.training:
            self.restart_dead_codes(z)
        with torch.no_grad():
            idx = self.distances(z).argmin(1)
            if self.training:
                count = F.one_hot(idx, len(self.usage)).float().sum(0)
                self.usage.mul_(self.mu).add_((1 - self.mu) * count)
        q = self.codebook(idx)
        codebook_loss = F.mse_loss(q, z.detach())
        commit_loss = F.mse_loss(z, q.detach())
        q = z + (q - z).detach()
        return q.view(b, t, c).permute(0, 2, 1), codebook_loss + self.beta * commit_loss, idx
