import math

import torch
from torch import nn

from .lattice import reciprocal_vectors


class LongRangePotential(nn.Module):
    """Reciprocal part of an Ewald sum with a learnable smearing.

    The filter depends on the cell only, therefore it is kept until another cell comes.
    """

    def __init__(self, smearing=0.8, nmax=1):
        super().__init__()
        self.log_smearing = nn.Parameter(torch.tensor(math.log(smearing)))
        self.nmax = nmax
        self._cell = None
        self._kvectors = None
        self._filter = None

    @property
    def smearing(self):
        return self.log_smearing.exp()

    def _is_cached(self, cell):
        return self._cell is not None and torch.equal(cell, self._cell)

    def _update_filter(self, cell):
        self._cell = cell.clone()
        self._kvectors = reciprocal_vectors(cell, self.nmax)
        k2 = (self._kvectors ** 2).sum(-1)
        volume = torch.det(cell).abs()
        self._filter = 4 * math.pi / volume * torch.exp(-0.5 * self.smearing ** 2 * k2) / k2
        self._filter = self._filter.detach()

    def forward(self, positions, charges, cell):
        if not self._is_cached(cell):
            self._update_filter(cell)
        phase = positions @ self._kvectors.t()
        re = (charges[:, None] * phase.cos()).sum(0)
        im = (charges[:, None] * phase.sin()).sum(0)
        energy = 0.5 * (self._filter * (re ** 2 + im ** 2)).sum()
        self_term = (charges ** 2).sum() / (self.smearing * math.sqrt(2 * math.pi))
        return energy - self_term
