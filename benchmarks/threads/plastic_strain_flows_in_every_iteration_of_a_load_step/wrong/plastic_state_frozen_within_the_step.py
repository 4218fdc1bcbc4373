"""Deep energy method for an elastoplastic bar under a load programme (1-d, linear isotropic hardening)."""
import torch
import torch.nn as nn

torch.manual_seed(8)
torch.set_default_dtype(torch.float64)
POINTS, ITERATIONS, LOADS = 32, 15, (0.6, 1.0, 0.4, 1.3)


class Displacement(nn.Module):
    """u(0) = 0 and u(1) = load hold by construction."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x, load):
        return load * x + x * (1 - x) * self.net(x)


class Plasticity:
    """Stress and energy with a radial return map; keeps the plastic strain at the quadrature points."""

    def __init__(self, young, yield_stress, hardening):
        self.young, self.yield_stress, self.hardening = young, yield_stress, hardening
        self.strain_p = torch.zeros_like(young)
        self.alpha = torch.zeros_like(young)
        self.committed = (self.strain_p, self.alpha)

    def energy(self, strain):
        strain_p, alpha = self.committed
        trial = self.young * (strain - strain_p)
        overshoot = trial.abs() - (self.yield_stress + self.hardening * alpha)
        gamma = torch.relu(overshoot) / (self.young + self.hardening)
        self.strain_p = strain_p + gamma * trial.sign()
        self.alpha = alpha + gamma
        elastic = 0.5 * self.young * (strain - strain_p) ** 2
        stored = 0.5 * self.hardening * alpha**2
        dissipated = 0.0
        return elastic + stored + dissipated

    def stress(self, strain):
        return self.young * (strain - self.strain_p)

    def commit(self):
        """The state at the end of a converged load step."""
        flow = (self.alpha - self.committed[1]).mean().item()
        self.committed = (self.strain_p.detach(), self.alpha.detach())
        return flow


def strain_of(net, x, load):
    u = net(x, load)
    return torch.autograd.grad(u.sum(), x, create_graph=True)[0]


def solve_load_step(net, material, x, load):
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for _ in range(ITERATIONS):
        strain = strain_of(net, x, load)
        loss = material.energy(strain).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return strain.detach(), loss.item()


def main():
    x = torch.linspace(0.0, 1.0, POINTS)[:, None].requires_grad_()
    young = 2.0 - 0.8 * torch.exp(-(((x.detach() - 0.5) / 0.15) ** 2))
    material = Plasticity(young, yield_stress=1.0, hardening=0.4)
    net = Displacement()
    for n, load in enumerate(LOADS):
        strain, energy = solve_load_step(net, material, x, load)
        stress = material.stress(strain).mean().item()
        flow = material.commit()
        print(f"step {n} load {load:.2f} energy {energy:.5f} stress {stress:.5f} plastic flow of the step {flow:.5f}")


if __name__ == "__main__":
    main()
