import numpy as np
import torch
import torch.nn as nn

torch.set_default_dtype(torch.float64)


class Net(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.linears = nn.ModuleList([nn.Linear(a, b) for a, b in zip(layers[:-1], layers[1:])])
        for l in self.linears:
            nn.init.xavier_normal_(l.weight)
            nn.init.zeros_(l.bias)

    def forward(self, X):
        for l in self.linears[:-1]:
            X = torch.tanh(l(X))
        return self.linears[-1](X)


class BurgersPINN:
    """u_t + u u_x - nu u_xx = 0 on [-1, 1] x [0, 1]; nu is unknown and learned with the network"""

    def __init__(self, X_data, u_data, X_col):
        self.X_data, self.u_data = X_data, u_data
        self.X_col = X_col.requires_grad_(True)
        self.net = Net([2, 16, 16, 1])
        self.log_nu = nn.Parameter(torch.tensor(-3.0))
        self.optimizer = torch.optim.Adam(list(self.net.parameters()) + [self.log_nu], lr=5e-3)

    def grad(self, y, x):
        return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True)[0]

    def residual(self, X):
        u = self.net(X)
        x, t = X[:, 0:1], X[:, 1:2]
        u_X = self.grad(u, X)
        u_xx = self.grad(u_X[:, 0:1], X)[:, 0:1].detach()
        u_x, u_t = u_X.detach().split(1, 1)
        return u_t + u * u_x - torch.exp(self.log_nu) * u_xx

    def train(self, n_iter):
        for it in range(n_iter):
            self.optimizer.zero_grad()
            loss_u = (self.net(self.X_data) - self.u_data).pow(2).mean()
            loss_f = self.residual(self.X_col).pow(2).mean()
            loss = loss_u + loss_f
            loss.backward()
            self.optimizer.step()
            if it % 4 == 3:
                print(f'It {it + 1}: u {loss_u.item():.6f} f {loss_f.item():.6f} nu {self.log_nu.exp().item():.6f}')


def make(n_data=40, n_col=60, seed=0):
    rng = np.random.default_rng(seed)
    X = np.stack([rng.uniform(-1, 1, n_data), rng.uniform(0, 1, n_data)], 1)
    u = -np.sin(np.pi * X[:, :1]) * np.exp(-X[:, 1:])
    C = np.stack([rng.uniform(-1, 1, n_col), rng.uniform(0, 1, n_col)], 1)
    return torch.from_numpy(X), torch.from_numpy(u), torch.from_numpy(C)


if __name__ == '__main__':
    torch.manual_seed(2)
    BurgersPINN(*make()).train(12)
