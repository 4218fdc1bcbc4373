import argparse
import os
import tempfile

import torch

from pinn.conditions import BoundaryCondition, InitialCondition, Observations
from pinn.geometry import SpaceTime
from pinn.model import Trainer
from pinn.net import FNN

"""
Inverse problem: diffusion in a rod
    u_t = D u_xx,   u(0,t) = 0,   u(x,0) = sin(k x)
The diffusivity D is known from the data sheet. The wave number k of the
temperature profile at t=0 (it was set by a heater nobody logged) is unknown.
"""

parser = argparse.ArgumentParser()
parser.add_argument("--iterations", type=int, default=12)
parser.add_argument("--lr", type=float, default=1e-2)
parser.add_argument("--n-domain", type=int, default=48)
parser.add_argument("--n-initial", type=int, default=24)
parser.add_argument("--seed", type=int, default=77)
args = parser.parse_args()
torch.manual_seed(args.seed)

D = 0.08
K_TRUE = 2.6

geom = SpaceTime(length=1.2, horizon=1.0)
k = torch.nn.Parameter(torch.tensor(2.0))


def pde(x, u):
    du = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    du_xx = torch.autograd.grad(du[:, 0].sum(), x, create_graph=True)[0][:, 0:1]
    return du[:, 1:2] - D * du_xx


ic = InitialCondition(geom.initial(args.n_initial), lambda x: torch.sin(k * x[:, 0:1]))
bc = BoundaryCondition(geom.left(16), lambda x: torch.zeros_like(x[:, 0:1]))

xs = geom.interior(20)
exact = torch.exp(-D * K_TRUE ** 2 * xs[:, 1:2]) * torch.sin(K_TRUE * xs[:, 0:1])
obs = Observations(xs, exact + 0.01 * torch.randn_like(exact))

net = FNN([2, 24, 24, 1])
trainer = Trainer(net, pde, geom.interior(args.n_domain), [ic, bc, obs], weights=[1.0, 5.0, 1.0, 1.0])
trainer.compile(lr=args.lr, external_trainable_variables=[k])
history = trainer.train(args.iterations, display_every=2)

with tempfile.TemporaryDirectory() as tmp:
    path = os.path.join(tmp, "rod.pt")
    torch.save({"net": net.state_dict(), "k": k.detach()}, path)
    print("saved", sorted(torch.load(path).keys()))

print(f"k = {k.item():.6f}  (true {K_TRUE})")
print(f"final loss {history[-1]:.6f}")
