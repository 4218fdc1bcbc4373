"""Fit a small net for the melting curve of a mixture; all weights in one flat vector, because the
Laplace approximation afterwards needs the Hessian of the loss with respect to that vector."""
import math
import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector

torch.manual_seed(20)
torch.set_num_threads(1)


def make_data(n=40, noise=0.05):
    rng = np.random.RandomState(4)
    x = np.sort(rng.uniform(-1, 1, n))
    y = 0.8 * np.abs(x + 0.15) - 0.3 * x ** 2 + noise * rng.randn(n)
    return torch.tensor(x, dtype=torch.float32)[:, None], torch.tensor(y, dtype=torch.float32)[:, None]


class FlatNet:
    """An nn.Module is only the template; forward() takes the weights from a vector."""

    def __init__(self, template):
        self.template = template
        self.shapes = [(name, p.shape, p.numel()) for name, p in template.named_parameters()]

    def init(self):
        return parameters_to_vector(self.template.parameters())

    def unflatten(self, theta):
        out, start = {}, 0
        for name, shape, n in self.shapes:
            out[name] = theta[start:start + n].view(shape)
            start += n
        return out

    def __call__(self, theta, x):
        return torch.func.functional_call(self.template, self.unflatten(theta), (x,))


def log_joint(theta, net, x, y, sigma=0.05, prior_prec=0.5):
    resid = (net(theta, x) - y) / sigma
    return -0.5 * resid.pow(2).sum() - 0.5 * prior_prec * theta.pow(2).sum()


def fit_map(net, x, y, steps=60, lr=0.02):
    theta = net.init().detach().requires_grad_()
    optimizer = torch.optim.Adam([theta], lr=lr)
    for i in range(steps):
        optimizer.zero_grad()
        loss = -log_joint(theta, net, x, y) / len(x)
        loss.backward()
        optimizer.step()
        if (i + 1) % 20 == 0:
            print('step %d  loss %.6f' % (i + 1, loss.item()))
    return theta.detach()


def laplace(theta, net, x, y):
    H = torch.autograd.functional.hessian(lambda t: -log_joint(t, net, x, y), theta)
    H = 0.5 * (H + H.T)
    ev = torch.linalg.eigvalsh(H)
    return ev.clamp(min=0.5)


if __name__ == '__main__':
    x, y = make_data()
    net = FlatNet(nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)))
    theta = fit_map(net, x, y)
    rmse = (net(theta, x) - y).pow(2).mean().sqrt().item()
    ev = laplace(theta, net, x, y)
    evidence = log_joint(theta, net, x, y).item() - 0.5 * ev.log().sum().item() + 0.5 * len(theta) * math.log(2 * math.pi)
    print('rmse %.6f  |theta| %.6f  log evidence %.3f' % (rmse, theta.norm().item(), evidence))
