"""Deep energy method for a bar: displacement by a network, end conditions by Lagrange multipliers."""
import torch

from bar.energy import BarEnergy
from bar.network import DisplacementNet
from bar.solver import ExtragradientSolver, LagrangianFormulation

torch.manual_seed(21)


def make_nodes(n=33, length=1.0):
    return torch.linspace(0.0, length, n).unsqueeze(1)


def train(n_steps=8):
    nodes = make_nodes().requires_grad_(True)
    net = DisplacementNet(width=20)
    energy = BarEnergy(stiffness=2.0, load=1.5, clamp=(0.0, 0.1))
    formulation = LagrangianFormulation(n_eq=2)
    solver = ExtragradientSolver(
        formulation,
        primal=torch.optim.SGD(net.parameters(), lr=0.05),
        dual=torch.optim.SGD(formulation.parameters(), lr=0.2),
    )
    for step in range(n_steps):
        field = net(nodes)
        state = solver.step(energy.closure, field, nodes)
        print(f"step {step}: energy {state.loss.item():.5f} defect {state.eq_defect.abs().max().item():.5f}")
    print("multipliers", [round(v, 5) for v in formulation.lam.tolist()])


if __name__ == "__main__":
    train()
