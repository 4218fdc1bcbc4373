import functools

import torch
import torch.nn as nn

from networks import derivative, mlp


class StefanPINN(nn.Module):

    def __init__(self, n_interior, n_boundary):
        super().__init__()
        self.u_net = mlp(2, 1)
        self.s_net = mlp(1, 1)
        # collocation points
        self.x_f = torch.rand(n_interior, 1, requires_grad=True)
        self.t_f = torch.rand(n_interior, 1, requires_grad=True)
        self.t_b = torch.linspace(0, 1, n_boundary).view(-1, 1).requires_grad_()

    @functools.cached_property
    def front(self):
        """Position of the melting front at the boundary times."""
        return self.s_net(self.t_b)

    def u(self, x, t):
        return self.u_net(torch.cat([x, t], dim=1))

    def pde_loss(self):
        u = self.u(self.x_f, self.t_f)
        u_t = derivative(u, self.t_f)
        u_xx = derivative(derivative(u, self.x_f), self.x_f)
        return ((u_t - u_xx) ** 2).mean()

    def left_loss(self):
        t = self.t_b.detach()
        return ((self.u(torch.zeros_like(t), t) - (torch.exp(t) - 1)) ** 2).mean()

    def front_loss(self):
        u_s = self.u(self.front, self.t_b)
        u_x = derivative(u_s, self.front)
        s_t = derivative(self.front, self.t_b)
        return (u_s ** 2).mean() + ((s_t + u_x) ** 2).mean()

    def start_loss(self):
        return self.s_net(torch.zeros(1, 1)).pow(2).mean()

    def losses(self):
        return {"pde": self.pde_loss(), "left": self.left_loss(),
                "front": self.front_loss(), "start": self.start_loss()}
