#!/usr/bin/env python
# Topology optimisation with a neural density field, augmented Lagrangian for the volume.
import torch
import torch.nn as nn

torch.manual_seed(8)
NX, NY = 12, 6
PENAL = 3.0


class Density(nn.Module):
    def __init__(self, freq=12):
        super().__init__()
        self.register_buffer('B', torch.randn(2, freq))
        self.net = nn.Sequential(nn.Linear(2*freq, 24), nn.SiLU(), nn.Linear(24, 1))

    def forward(self, xy):
        z = xy @ self.B
        return torch.sigmoid(self.net(torch.cat([z.sin(), z.cos()], -1))).squeeze(-1)


def conductance_matrix(rho):
    """heat conduction on a grid, SIMP interpolation, edges take the mean of two cells"""
    k = (1e-3 + rho ** PENAL).view(NY, NX)
    idx = torch.arange(NX*NY).view(NY, NX)
    K = torch.zeros(NX*NY, NX*NY)
    pairs = [(idx[:, :-1], idx[:, 1:], 0.5*(k[:, :-1] + k[:, 1:])),
             (idx[:-1], idx[1:], 0.5*(k[:-1] + k[1:]))]
    for a, b, c in pairs:
        a, b, c = a.reshape(-1), b.reshape(-1), c.reshape(-1)
        for i, j, s in ((a, a, 1.), (b, b, 1.), (a, b, -1.), (b, a, -1.)):
            K = K.index_put((i, j), s*c, accumulate=True)
    sink = torch.zeros(NX*NY)
    sink[idx[NY//2 - 1:NY//2 + 1, 0]] = 10.0
    return K + torch.diag(sink)


class AugmentedLagrangian:
    """one multiplier per band of the plate (the left may be denser than the right)"""

    def __init__(self, limits, mu=4.0, growth=1.5):
        self.limits = torch.tensor(limits)
        self.lam = torch.zeros(len(limits))
        self.mu, self.growth = mu, growth

    def excess(self, rho):
        bands = rho.view(NY, NX).chunk(len(self.limits), dim=1)
        return torch.stack([b.mean() for b in bands]) - self.limits

    def __call__(self, rho):
        c = self.excess(rho)
        value = (self.lam * c).sum() + 0.5 * self.mu * c.pow(2).sum()
        # lambda <- lambda + mu c   (for the next iteration)
        self.lam.data.add_(self.mu * c.detach())
        return value


ys, xs = torch.meshgrid(torch.linspace(-1, 1, NY), torch.linspace(-1, 1, NX), indexing='ij')
xy = torch.stack([xs, ys], -1).reshape(-1, 2)
load = torch.full((NX*NY,), 0.01)

field = Density()
al = AugmentedLagrangian([0.6, 0.4, 0.2])
optimizer = torch.optim.Adam(field.parameters(), lr=2e-2)

for it in range(15):
    rho = field(xy)
    T = torch.linalg.solve(conductance_matrix(rho), load)
    compliance = load @ T
    loss = compliance + al(rho)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 5 == 4:
        print(f'{it:3d}  C {compliance.item():.5f}  excess {[round(e, 4) for e in al.excess(rho).tolist()]}  lam {[round(l, 4) for l in al.lam.tolist()]}')
