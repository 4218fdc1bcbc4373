"""Lagrangian neural network (Cranmer et al., 2020) for a double pendulum-like system with two angles."""
import numpy as np
import torch
from torch import nn
from torch.autograd.functional import hessian, jacobian

torch.manual_seed(8)
rng = np.random.default_rng(8)
torch.set_default_dtype(torch.float64)


class LNN(nn.Module):
    """L(q, q_t); accelerations follow from the Euler-Lagrange equation"""

    def __init__(self, hidden=24):
        super().__init__()
        self.fc1 = nn.Linear(4, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 1)

    def lagrangian(self, x):
        h = nn.functional.softplus(self.fc1(x))
        h = nn.functional.softplus(self.fc2(h))
        # a kinetic term keeps the mass matrix away from singular
        return self.fc3(h).squeeze(-1) + 0.5 * (x[..., 2:] ** 2).sum(-1)

    def acceleration(self, x):
        n = x.shape[0] // 2
        q_t = x[n:]
        H = hessian(self.lagrangian, x)
        J = jacobian(self.lagrangian, x)
        A = J[:n]             # dL/dq
        B = H[n:, n:]         # d2L/dq_t2
        C = H[n:, :n]         # d2L/dq_t dq
        return torch.linalg.solve(B, A - C @ q_t)

    def forward(self, x):
        q_tt = torch.stack([self.acceleration(xi) for xi in x])
        return torch.cat([x[:, 2:], q_tt], dim=1)


def true_acceleration(x):
    q1, q2, w1, w2 = x.T
    k = 0.5
    a1 = -np.sin(q1) - k * (q1 - q2)
    a2 = -np.sin(q2) - k * (q2 - q1)
    return np.stack([w1, w2, a1, a2], 1)


def get_data(n):
    x = rng.uniform(-1.0, 1.0, size=(n, 4))
    y = true_acceleration(x)
    return torch.from_numpy(x), torch.from_numpy(y)


def train(model, x, y, epochs=3, batch_size=8, lr=5e-3):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        order = torch.randperm(len(x))
        running = 0.0
        for idx in order.split(batch_size):
            optimizer.zero_grad()
            pred = model(x[idx])
            loss = nn.functional.mse_loss(pred, y[idx])
            loss.backward()
            optimizer.step()
            running += loss.item() * len(idx)
        print(f"epoch {epoch} train mse {running / len(x):.8f}")


def energy_like_drift(model, x0, n=5, dt=0.05):
    """a few explicit steps with the learned accelerations"""
    x = x0
    for _ in range(n):
        x = x + dt * model(x).detach()
    return (x - x0).norm(dim=1).mean().item()


if __name__ == "__main__":
    x, y = get_data(24)
    xt, yt = get_data(6)
    model = LNN()
    train(model, x, y)
    test = nn.functional.mse_loss(model(xt), yt)
    print(f"test mse {test.item():.8f} travelled {energy_like_drift(model, xt):.8f}")
