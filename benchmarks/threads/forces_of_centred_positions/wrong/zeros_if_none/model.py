import torch
from torch import nn


class RadialBasis(nn.Module):
    def __init__(self, n, cutoff):
        super().__init__()
        self.cutoff = cutoff
        self.register_buffer("centers", torch.linspace(0.6, cutoff, n))
        self.gamma = (n / cutoff) ** 2 * 0.5

    def forward(self, r):
        env = 0.5 * (torch.cos(torch.pi * r.clamp(max=self.cutoff) / self.cutoff) + 1.0)
        return torch.exp(-self.gamma * (r[..., None] - self.centers) ** 2) * env[..., None]


class PairPotential(nn.Module):
    """Invariant energy of a cluster: a sum over pairs and an atomwise network."""

    def __init__(self, n_rbf=8, hidden=16, cutoff=3.0):
        super().__init__()
        self.rbf = RadialBasis(n_rbf, cutoff)
        self.pair = nn.Sequential(nn.Linear(n_rbf, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.atom = nn.Sequential(nn.SiLU(), nn.Linear(hidden, 1))

    def forward(self, pos):
        n = pos.size(1)
        i, j = torch.nonzero(1 - torch.eye(n), as_tuple=True)
        r = (pos[:, i] - pos[:, j]).norm(dim=-1)
        msg = self.pair(self.rbf(r))
        per_atom = torch.zeros(pos.size(0), n, msg.size(-1)).index_add(1, i, msg)
        return self.atom(per_atom).sum(dim=(1, 2))
