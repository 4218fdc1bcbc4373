import torch
import torch.nn.functional as F
from torch import nn


class VectorQuant(nn.Module):
    """Nearest code, straight-through estimator.

    With ``inplace_optimizer`` the codebook is not trained by the main optimizer:
    it takes a step of its own during every training forward.
    """

    def __init__(self, num_codes, dim, beta, inplace_optimizer):
        super().__init__()
        self.codebook = nn.Embedding(num_codes, dim)
        nn.init.normal_(self.codebook.weight, std=0.5)
        self.beta = beta
        self.inplace_codebook_optimizer = inplace_optimizer(self.codebook.parameters())
        self.last_codebook_loss = 0.0

    def get_nearest(self, z):
        with torch.no_grad():
            return torch.cdist(z, self.codebook.weight).argmin(-1)

    def inplace_update(self, z, q):
        """Pulls the chosen codes towards the encodings."""
        loss = F.mse_loss(self.codebook(q), z)
        self.inplace_codebook_optimizer.zero_grad()
        loss.backward(retain_graph=True)
        self.inplace_codebook_optimizer.step()
        self.last_codebook_loss = loss.item()

    def forward(self, z):
        q = self.get_nearest(z)
        if self.training:
            self.inplace_update(z, q)
        z_q = self.codebook(q).detach()
        commit = self.beta * F.mse_loss(z, z_q)
        z_q = z + (z_q - z).detach()
        return z_q, commit, q
