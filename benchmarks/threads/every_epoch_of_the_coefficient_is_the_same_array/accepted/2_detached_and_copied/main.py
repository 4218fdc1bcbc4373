"""
Inverse problem: find the diffusivity of a rod from noisy temperatures.
    u_t = kappa * u_xx,   0 < x < 1
"""
import torch

from callbacks import History
from data import collocation_points, measurements
from model import InversePINN

EPOCHS = 160
LR = 5e-3

torch.manual_seed(1234)
x_d, t_d, u_d = measurements(n=60, noise=0.02)
x_f, t_f = collocation_points(n=120)

pinn = InversePINN(layers=[2, 20, 20, 1], kappa0=0.4)
optimizer = torch.optim.Adam(pinn.parameters(), lr=LR)
history = History(window=12, tol=2e-5)

for epoch in range(EPOCHS):
    optimizer.zero_grad()
    data_loss = (pinn(x_d, t_d) - u_d).pow(2).mean()
    pde_loss = pinn.residual(x_f, t_f).pow(2).mean()
    loss = data_loss + 0.1 * pde_loss
    loss.backward()
    optimizer.step()
    history.on_epoch_end(epoch, pinn, data_loss, pde_loss)
    if epoch % 40 == 0:
        print('%4d  data %.6f  pde %.6f  kappa %.6f' % ((epoch,) + history.last()))
    if history.converged():
        print('kappa stands still, stop')
        break

print('epochs %d' % len(history.kappa))
print('kappa %.6f (first %.6f, best %.6f)' % (history.kappa[-1], history.kappa[0], history.best()))
