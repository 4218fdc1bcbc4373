"""One-phase Stefan problem with two networks: temperature u(x, t) and melting front s(t).

    u_t = u_xx           0 < x < s(t)
    u(0, t) = exp(t) - 1
    u(s(t), t) = 0,      s'(t) = -u_x(s(t), t),    s(0) = 0
Exact: u = exp(t - x) - 1, s = t.
"""
import torch

from pinn import StefanPINN

torch.manual_seed(0)

EPOCHS = 60
pinn = StefanPINN(n_interior=64, n_boundary=32)
optimizer = torch.optim.Adam(pinn.parameters(), lr=5e-3)

for epoch in range(EPOCHS):
    optimizer.zero_grad()
    losses = pinn.losses()
    loss = losses["pde"] + losses["left"] + 2.0 * losses["front"] + losses["start"]
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0 or epoch == EPOCHS - 1:
        print("%3d  " % epoch + "  ".join("%s %.6f" % (k, v.item()) for k, v in losses.items()))

with torch.no_grad():
    t = torch.linspace(0, 1, 5).view(-1, 1)
    print("front", " ".join("%.6f" % s for s in pinn.s_net(t).flatten().tolist()))
