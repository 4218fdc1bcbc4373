"""
PINN for the Allen-Cahn equation on [-1, 1] with causal weights in time:
the residual at time t_i counts only once the residuals before t_i are small.

u_t - 0.001 u_xx + 5 u^3 - 5 u = 0,  u(0, x) = x^2 cos(pi x),  periodic in x
"""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(1234)
np.random.seed(1234)


class PeriodicMLP(nn.Module):
    """periodic in x by construction"""

    def __init__(self, width=24, modes=3):
        super().__init__()
        self.modes = modes
        self.net = nn.Sequential(nn.Linear(2 + 2 * modes, width), nn.Tanh(),
                                 nn.Linear(width, width), nn.Tanh(),
                                 nn.Linear(width, 1))

    def forward(self, t, x):
        feats = [t, torch.ones_like(t)]
        for k in range(1, self.modes + 1):
            feats += [torch.cos(k * np.pi * x), torch.sin(k * np.pi * x)]
        return self.net(torch.cat(feats, dim=1))


class CausalPINN:
    def __init__(self, n_t=12, n_x=16, tol=0.5, lr=3e-3):
        self.n_t, self.n_x = n_t, n_x
        self.tol = tol
        self.model = PeriodicMLP()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.99)
        # strictly lower triangular: sum over the earlier times
        self.M = np.tril(np.ones((n_t, n_t), dtype=np.float32), k=-1)
        x0 = np.linspace(-1, 1, 33, dtype=np.float32)[:, None]
        self.x0 = torch.from_numpy(x0)
        self.u0 = torch.from_numpy(x0 ** 2 * np.cos(np.pi * x0))

    def sample(self):
        t = np.sort(np.random.rand(self.n_t, 1), axis=0)
        x = np.random.uniform(-1, 1, (1, self.n_x))
        t, x = np.broadcast_arrays(t, x)
        to = lambda a: torch.tensor(a.reshape(-1, 1), dtype=torch.float32, requires_grad=True)
        return to(t), to(x)

    def residual(self, t, x):
        u = self.model(t, x)
        ones = torch.ones_like(u)
        u_t = torch.autograd.grad(u, t, ones, create_graph=True)[0]
        u_x = torch.autograd.grad(u, x, ones, create_graph=True)[0]
        u_xx = torch.autograd.grad(u_x, x, ones, create_graph=True)[0]
        return u_t - 0.001 * u_xx + 5 * u ** 3 - 5 * u

    def causal_weights(self, L_t):
        W = np.exp(-self.tol * (self.M @ L_t.numpy()))
        return torch.from_numpy(W)

    def loss(self):
        t, x = self.sample()
        r = self.residual(t, x).view(self.n_t, self.n_x)
        L_t = (r ** 2).mean(dim=1)
        with torch.no_grad():
            W = self.causal_weights(L_t)
        L_r = (W * L_t).mean()
        L_0 = ((self.model(torch.zeros_like(self.x0), self.x0) - self.u0) ** 2).mean()
        return 100 * L_0 + L_r, L_0, L_r, W

    def train(self, n_iter=60, log_every=15):
        for it in range(1, n_iter + 1):
            self.optimizer.zero_grad()
            loss, L_0, L_r, W = self.loss()
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            if it % log_every == 0:
                print('it %3d | loss %.6f | ics %.6f | res %.6f | W_min %.6f'
                      % (it, loss.item(), L_0.item(), L_r.item(), W.min().item()))


if __name__ == '__main__':
    pinn = CausalPINN()
    pinn.train()
