"""
Variational Monte Carlo for two bosons in a harmonic trap (2 x 3 coordinates), neural Jastrow factor.

    E_loc = -1/2 sum_i [ d2 log psi / dx_i^2 + (d log psi / dx_i)^2 ] + V
    dE/dtheta = 2 < (E_loc - <E_loc>) d log psi / dtheta >
"""
import torch
from torch import nn
from torch.autograd import grad

torch.manual_seed(11)
torch.set_default_dtype(torch.float64)

N_PART, DIM = 2, 3
D = N_PART * DIM


class Wavefunction(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.alpha = nn.Parameter(torch.tensor(0.35))
        self.net = nn.Sequential(nn.Linear(D + 1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, x):
        r = x.view(-1, N_PART, DIM)
        dist = (r[:, 0] - r[:, 1]).pow(2).sum(-1, keepdim=True).add(1e-4).sqrt()
        jastrow = self.net(torch.cat([x, dist], -1)).squeeze(-1)
        # symmetric under exchange
        swapped = torch.cat([r[:, 1], r[:, 0]], -1)
        jastrow = jastrow + self.net(torch.cat([swapped, dist], -1)).squeeze(-1)
        return -self.alpha * x.pow(2).sum(-1) + 0.1 * jastrow


def potential(x, coupling=0.5):
    r = x.view(-1, N_PART, DIM)
    dist = (r[:, 0] - r[:, 1]).norm(dim=-1)
    return 0.5 * x.pow(2).sum(-1) + coupling / (dist + 0.1)


class Metropolis:
    def __init__(self, n_walkers=64, step=0.6):
        self.x = torch.randn(n_walkers, D)
        self.step = step

    @torch.no_grad()
    def sweep(self, wf, n=5):
        for _ in range(n):
            proposal = self.x + self.step * torch.randn_like(self.x)
            ratio = torch.exp(2 * (wf(proposal) - wf(self.x)))
            accept = torch.rand(len(self.x)) < ratio
            self.x = torch.where(accept[:, None], proposal, self.x)
        return self.x


def local_energy(wf, x):
    """E_loc of every walker, and log psi for the gradient of the energy"""
    x = x.detach().requires_grad_(True)
    logpsi = wf(x)
    (g,) = grad(logpsi.sum(), x, create_graph=True)
    lap = torch.zeros(len(x))
    lap = lap + grad(g.sum(), x, retain_graph=True)[0].sum(-1)
    kinetic = -0.5 * (lap + g.pow(2).sum(-1))
    return kinetic + potential(x), logpsi


def main(n_iter=8):
    wf = Wavefunction()
    sampler = Metropolis()
    optimizer = torch.optim.Adam(wf.parameters(), lr=2e-2)
    sampler.sweep(wf, 20)
    for it in range(n_iter):
        x = sampler.sweep(wf)
        e_loc, logpsi = local_energy(wf, x)
        weight = e_loc - e_loc.mean()
        loss = 2 * (weight.detach() * logpsi).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 2 == 0:
            print(f"it {it}  E = {e_loc.mean().item():.6f} +- {e_loc.std().item() / len(x) ** 0.5:.6f}  alpha {wf.alpha.item():.5f}")
    print(f"final variance {e_loc.var().item():.6f}")


if __name__ == "__main__":
    main()
