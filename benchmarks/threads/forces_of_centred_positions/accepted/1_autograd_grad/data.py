"""Lennard-Jones clusters, energies and forces in reduced units."""
import torch


def lj(pos):
    d = pos[:, :, None] - pos[:, None, :]
    r2 = (d ** 2).sum(-1) + torch.eye(pos.size(1))
    off = 1.0 - torch.eye(pos.size(1))
    s6 = r2 ** -3
    energy = (4 * (s6 ** 2 - s6) * off).sum((1, 2)) / 2
    pref = 24 * (2 * s6 ** 2 - s6) / r2 * off
    return energy, (pref[..., None] * d).sum(2)


class Clusters:
    def __init__(self, n, atoms=5):
        base = torch.tensor([[0, 0, 0], [1.1, 0, 0], [0.55, 0.95, 0], [0.55, 0.32, 0.9], [0.55, 0.32, -0.9]])[:atoms]
        self.pos = base + 0.05 * torch.randn(n, atoms, 3) + torch.randn(n, 1, 3)
        self.energy, self.forces = lj(self.pos)

    def batches(self, size, shuffle=True):
        idx = torch.randperm(len(self.pos)) if shuffle else torch.arange(len(self.pos))
        for chunk in idx.split(size):
            yield {"pos": self.pos[chunk], "energy": self.energy[chunk], "forces": self.forces[chunk]}
