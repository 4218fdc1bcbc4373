import torch
import torch.nn as nn

torch.set_default_dtype(torch.float64)


class HNN(nn.Module):
    """Learns H(q, p); the field is its symplectic gradient."""

    def __init__(self, dim=2, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1, bias=False))
        self.register_buffer('J', torch.tensor([[0., 1.], [-1., 0.]]))

    def time_derivative(self, x):
        H = self.net(x)
        dH = torch.autograd.grad(H.sum(), x)[0].requires_grad_()
        return dH @ self.J.t()


def pendulum(n):
    q, p = 4 * torch.rand(n) - 2, 2 * torch.rand(n) - 1
    return torch.stack([q, p], 1), torch.stack([p, -torch.sin(q)], 1)


torch.manual_seed(1906)
model = HNN()
optim = torch.optim.Adam(model.parameters(), 1e-2, weight_decay=1e-4)
for step in range(6):
    x, dxdt = pendulum(32)
    x.requires_grad_()
    loss = (dxdt - model.time_derivative(x)).pow(2).mean()
    optim.zero_grad()
    loss.backward()
    optim.step()
    print('step %d, train_loss %.8f' % (step, loss.item()))
x, dxdt = pendulum(32)
print('test_loss %.8f' % (dxdt - model.time_derivative(x.requires_grad_())).pow(2).mean().item())
