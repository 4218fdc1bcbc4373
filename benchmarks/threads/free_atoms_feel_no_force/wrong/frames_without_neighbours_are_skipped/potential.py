import torch
import torch.nn as nn

from graph import neighbor_list, radial_basis


class Potential(nn.Module):
    def __init__(self, cutoff, hidden, n_rbf=8):
        super().__init__()
        self.cutoff, self.n_rbf = cutoff, n_rbf
        self.e0 = nn.Embedding(2, 1)  # energies of the free atoms
        self.embed = nn.Embedding(2, hidden)
        self.filters = nn.ModuleList(nn.Sequential(nn.Linear(n_rbf, hidden), nn.SiLU(), nn.Linear(hidden, hidden)) for _ in range(2))
        self.updates = nn.ModuleList(nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU()) for _ in range(2))
        self.readout = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1, bias=False))

    def forward(self, z, pos):
        energy = self.e0(z).sum()
        src, dst = neighbor_list(pos, self.cutoff)
        if src.numel() == 0:
            # nobody within the cutoff
            return energy
        r = (pos[dst] - pos[src]).norm(dim=1)
        rbf, envelope = radial_basis(r, self.cutoff, self.n_rbf)
        x = self.embed(z)
        for filt, update in zip(self.filters, self.updates):
            msg = x[src] * filt(rbf) * envelope
            agg = torch.zeros_like(x).index_add(0, dst, msg)
            x = x + update(agg)
        pair = x[src] * x[dst] * envelope
        return energy + self.readout(pair).mul(envelope).sum()

    def energy_and_forces(self, z, pos):
        pos = pos.detach().requires_grad_(True)
        energy = self(z, pos)
        grad, = torch.autograd.grad(energy, pos, create_graph=True)
        return energy, -grad
