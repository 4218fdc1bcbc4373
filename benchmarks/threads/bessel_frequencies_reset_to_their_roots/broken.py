"""Small radial message passing network on random molecules (Bessel basis as in DimeNet)."""
from math import pi as PI

import torch
from torch import nn
from torch.nn import Embedding, Linear


class Envelope(nn.Module):
    def __init__(self, exponent):
        super().__init__()
        self.p = exponent + 1
        self.a = -(self.p + 1) * (self.p + 2) / 2
        self.b = self.p * (self.p + 2)
        self.c = -self.p * (self.p + 1) / 2

    def forward(self, x):
        x_pow_p0 = x.pow(self.p - 1)
        x_pow_p1 = x_pow_p0 * x
        return (1. / x + self.a * x_pow_p0 + self.b * x_pow_p1 + self.c * x_pow_p1 * x) * (x < 1.0)


class BesselBasisLayer(nn.Module):
    def __init__(self, num_radial, cutoff=4.0, envelope_exponent=5):
        super().__init__()
        self.cutoff = cutoff
        self.envelope = Envelope(envelope_exponent)
        self.freq = nn.Parameter(torch.empty(num_radial))
        self.reset_parameters()

    def reset_parameters(self):
        # roots of j_0, learned from there on
        self.freq.copy_(torch.arange(1, self.freq.numel() + 1)).mul_(PI)

    def forward(self, dist):
        dist = dist.unsqueeze(-1) / self.cutoff
        return self.envelope(dist) * (self.freq * dist).sin()


class Interaction(nn.Module):
    def __init__(self, hidden, num_radial):
        super().__init__()
        self.lin_rbf = Linear(num_radial, hidden, bias=False)
        self.lin = Linear(hidden, hidden)
        self.out = Linear(hidden, hidden)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.orthogonal_(self.lin_rbf.weight)
        nn.init.orthogonal_(self.lin.weight)
        self.lin.bias.data.fill_(0)

    def forward(self, x, rbf, i, j):
        m = self.lin(x)[j] * self.lin_rbf(rbf)
        return x + torch.nn.functional.silu(self.out(torch.zeros_like(x).index_add(0, i, m)))


class RadialNet(nn.Module):
    def __init__(self, hidden=12, num_radial=6, blocks=2, cutoff=4.0):
        super().__init__()
        self.cutoff = cutoff
        self.rbf = BesselBasisLayer(num_radial, cutoff)
        self.emb = Embedding(10, hidden)
        self.blocks = nn.ModuleList(Interaction(hidden, num_radial) for _ in range(blocks))
        self.readout = Linear(hidden, 1)

    def forward(self, z, pos, batch, n_mol):
        d = torch.cdist(pos, pos)
        i, j = ((batch[:, None] == batch[None]) & (d < self.cutoff) & ~torch.eye(len(z), dtype=torch.bool)).nonzero().T
        rbf = self.rbf((pos[i] - pos[j]).norm(dim=-1))
        x = self.emb(z)
        for block in self.blocks:
            x = block(x, rbf, i, j)
        return torch.zeros(n_mol).index_add(0, batch, self.readout(x).squeeze(-1))


def molecules(n_mol, n_atoms, gen):
    z = torch.randint(1, 4, (n_mol * n_atoms,), generator=gen)
    grid = torch.stack(torch.meshgrid(*[torch.arange(2.)] * 3, indexing="ij"), -1).view(-1, 3) * 1.5
    pos = torch.cat([grid[torch.randperm(8, generator=gen)[:n_atoms]] for _ in range(n_mol)])
    pos = pos + 0.2 * torch.randn(pos.shape, generator=gen)
    batch = torch.arange(n_mol).repeat_interleave(n_atoms)
    d = torch.cdist(pos, pos) + 10 * (batch[:, None] != batch[None]) + 10 * torch.eye(len(z))
    pair = z[:, None] * z[None] * (torch.exp(-2 * (d - 1.5)) - 2 * torch.exp(-(d - 1.5)))
    energy = torch.zeros(n_mol).index_add(0, batch, 0.5 * pair.sum(1))
    return z, pos, batch, energy / 20


if __name__ == "__main__":
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(1)
    model = RadialNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(10):
        z, pos, batch, energy = molecules(8, 5, gen)
        loss = (model(z, pos, batch, 8) - energy).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 3 == 0:
            print(f"epoch {epoch}  MAE {loss.item():.5f}")
    print("frequencies / pi:", " ".join(f"{f:.4f}" for f in (model.rbf.freq / PI).tolist()))
