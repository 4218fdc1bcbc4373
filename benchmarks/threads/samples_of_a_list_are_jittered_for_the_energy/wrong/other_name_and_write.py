from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Molecule:
    z: torch.Tensor
    pos: torch.Tensor
    energy: torch.Tensor


def make(n):
    out = []
    for _ in range(n):
        atoms = int(torch.randint(3, 6, ()))
        out.append(Molecule(torch.randint(0, 4, (atoms,)), torch.randn(atoms, 3), torch.randn(())))
    return out


class Energy(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.emb = nn.Embedding(4, hidden)
        self.radial = nn.Linear(1, hidden)
        self.pos = nn.Linear(3, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, mol):
        pos = mol.pos
        d = torch.cdist(pos, pos).unsqueeze(-1)
        local = self.pos(pos).tanh()
        # jitter against overfitting, only for the radial part
        pos = pos + 0.05 * torch.randn_like(pos)
        mol.pos = pos
        d = d + (pos.unsqueeze(0) - pos.unsqueeze(1)).norm(dim=-1, keepdim=True)
        h = self.emb(mol.z) + local + self.radial(d).tanh().sum(1)
        return self.out(h.tanh()).sum()


torch.manual_seed(1)
molecules, model = make(6), Energy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    total = 0.0
    for mol in molecules:
        loss = (model(mol) - mol.energy) ** 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total)
