import torch
import torch.nn as nn


class InversePINN(nn.Module):
    def __init__(self, layers, kappa0):
        super().__init__()
        net = []
        for a, b in zip(layers[:-2], layers[1:-1]):
            net += [nn.Linear(a, b), nn.Tanh()]
        self.net = nn.Sequential(*net, nn.Linear(layers[-2], layers[-1]))
        # the unknown coefficient is trained with the weights
        self.kappa = nn.Parameter(torch.tensor(kappa0), requires_grad=False)

    def forward(self, x, t):
        return self.net(torch.cat([x, t], 1))

    def residual(self, x, t):
        u = self(x, t)
        u_x, u_t = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
        u_xx, = torch.autograd.grad(u_x.sum(), x, create_graph=True)
        return u_t - self.kappa * u_xx
