import torch
import torch.nn as nn
import torch.nn.functional as F


class ResidualLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        with torch.no_grad():
            self.lin1.weight.mul_(0.5), self.lin2.weight.mul_(0.5)

    def forward(self, z, x):
        return torch.tanh(self.lin2(F.relu(self.lin1(z))) * 0.5 + self.norm(x))


def fixed_point(f, x0, max_iter=60, tol=1e-9):
    """Plain iteration; returns the fixed point and how many iterations it took."""
    z = x0
    for k in range(max_iter):
        nxt = f(z)
        if (nxt - z).norm() < tol * (1e-12 + nxt.norm()):
            return nxt, k
        z = nxt
    return z, max_iter


class DEQFixedPoint(nn.Module):
    def __init__(self, f, solver):
        super().__init__()
        self.f, self.solver = f, solver

    def forward(self, x):
        # compute forward pass without autograd tape
        with torch.no_grad():
            z, self.forward_its = self.solver(lambda z: self.f(z, x), torch.zeros_like(x))
        z = self.f(z, x)
        # set up Jacobian vector product (without additional forward calls)
        z0 = z.clone().detach().requires_grad_()
        f0 = self.f(z0, x)

        def backward_hook(grad):
            g, self.backward_its = self.solver(lambda y: torch.autograd.grad(f0, z0, y, retain_graph=True)[0] + grad, grad)
            return g

        if self.training:
            z.register_hook(backward_hook)
        return z


def main():
    torch.manual_seed(24)
    torch.set_default_dtype(torch.float64)
    deq = DEQFixedPoint(ResidualLayer(8), fixed_point)
    model = nn.Sequential(nn.Linear(5, 8), deq, nn.Linear(8, 3))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(5):
        x = torch.randn(16, 5)
        y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("step %d loss %.6f" % (step, loss.item()))


if __name__ == "__main__":
    main()
