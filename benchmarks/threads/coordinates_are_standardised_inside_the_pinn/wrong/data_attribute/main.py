"""
PINN for the 1D heat equation  u_t = alpha * u_xx  on x in [0, 2], t in [0, 0.5]
u(x, 0) = sin(pi x / 2),  u(0, t) = u(2, t) = 0
"""
import math
import numpy as np
import torch
from torch.autograd import grad

from net import FCNet

torch.manual_seed(42)
np.random.seed(42)

ALPHA = 0.4
N_F, N_B, N_0 = 200, 40, 40
ITERS = 150


def to_tensor(a, requires_grad=False):
    return torch.tensor(a, dtype=torch.float32, requires_grad=requires_grad)


# ---- points -------------------------------------------------
xf = np.random.rand(N_F, 1) * 2.0
tf = np.random.rand(N_F, 1) * 0.5
x0 = np.linspace(0, 2, N_0)[:, None]
u0 = np.sin(math.pi * x0 / 2)
tb = np.random.rand(N_B, 1) * 0.5
xb = np.where(np.arange(N_B)[:, None] % 2 == 0, 0.0, 2.0)

model = FCNet([2, 20, 20, 1], to_tensor(xf.mean()), to_tensor(xf.std()), to_tensor(tf.mean()), to_tensor(tf.std()))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
mse = torch.nn.MSELoss()


def residual(model):
    x = to_tensor(xf, requires_grad=True)
    t = to_tensor(tf, requires_grad=True)
    u = model(x, t)
    ones = torch.ones_like(u)
    u_t = grad(u, t, ones, create_graph=True)[0]
    u_x = grad(u, x, ones, create_graph=True)[0]
    u_xx = grad(u_x, x, ones, create_graph=True)[0]
    return u_t - ALPHA * u_xx


for it in range(ITERS):
    optimizer.zero_grad()
    loss_0 = mse(model(to_tensor(x0), to_tensor(np.zeros_like(x0))), to_tensor(u0))
    loss_b = model(to_tensor(xb), to_tensor(tb)).pow(2).mean()
    loss_f = residual(model).pow(2).mean()
    loss = loss_0 + loss_b + loss_f
    loss.backward()
    optimizer.step()
    if (it + 1) % 30 == 0:
        print("it %4d  loss_0 %.6f  loss_b %.6f  loss_f %.6f" % (it + 1, loss_0.item(), loss_b.item(), loss_f.item()))

# ---- compare with the exact solution ------------------------
with torch.no_grad():
    xs = np.linspace(0, 2, 21)[:, None]
    ts = np.full_like(xs, 0.4)
    exact = np.sin(math.pi * xs / 2) * np.exp(-ALPHA * (math.pi / 2) ** 2 * ts)
    pred = model(to_tensor(xs), to_tensor(ts)).numpy()
    print("rel. L2 error %.6f" % (np.linalg.norm(pred - exact) / np.linalg.norm(exact)))
