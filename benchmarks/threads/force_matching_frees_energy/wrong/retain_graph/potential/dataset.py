import torch


def morse(pos, d=1.0, a=1.2, r0=1.5):
    n = pos.shape[1]
    i, j = torch.triu_indices(n, n, 1)
    r = (pos[:, i] - pos[:, j]).norm(dim=-1)
    return (d * (1 - torch.exp(-a * (r - r0))) ** 2 - d).sum(1)


class MorseClusters:
    """Reference energies and forces of small clusters."""

    def __init__(self, n_atoms, n_frames):
        pos = (torch.randn(n_frames, n_atoms, 3) * 1.2).requires_grad_()
        energy = morse(pos)
        self.forces = -torch.autograd.grad(energy.sum(), pos)[0].clamp(-5, 5)
        self.pos, self.energy = pos.detach(), energy.detach()

    def batch(self, n):
        idx = torch.randperm(len(self.pos))[:n]
        return {"positions": self.pos[idx], "energy": self.energy[idx], "forces": self.forces[idx]}
