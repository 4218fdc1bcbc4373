"""
XPINN，一维反应扩散方程  -u'' + k u = f,  x in [-1, 1],  分界点 x = 0
左右两个子域各用一个网络，各有一个优化器 (Jagtap & Karniadakis 2020)
"""
import numpy as np
import torch
import torch.nn as nn

np.random.seed(1234)
torch.manual_seed(1234)

K = 2.0
W_F, W_B, W_I = 1.0, 20.0, 10.0


class FNN(nn.Module):
    def __init__(self, layers, act=torch.tanh):
        super().__init__()
        self.act = act
        self.linears = nn.ModuleList([nn.Linear(layers[i], layers[i + 1]) for i in range(len(layers) - 1)])
        for lin in self.linears:
            nn.init.xavier_normal_(lin.weight)
            nn.init.zeros_(lin.bias)
        self.a = nn.Parameter(torch.tensor(1.0))        # 自适应激活

    def forward(self, x):
        for lin in self.linears[:-1]:
            x = self.act(self.a * lin(x))
        return self.linears[-1](x)


def exact(x):
    return np.sin(np.pi * x) + 0.3 * np.cos(2 * x)


def source(x):
    return np.pi ** 2 * np.sin(np.pi * x) + 1.2 * np.cos(2 * x) + K * exact(x)


def tensor(a):
    return torch.tensor(a, dtype=torch.float32).reshape(-1, 1)


def d(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


class XPINN:
    def __init__(self, nf=24):
        self.left, self.right = FNN([1, 12, 12, 1]), FNN([1, 12, 12, 1])
        self.opt_l = torch.optim.Adam(self.left.parameters(), lr=2e-3)
        self.opt_r = torch.optim.Adam(self.right.parameters(), lr=2e-3)
        xl, xr = np.random.uniform(-1, 0, nf), np.random.uniform(0, 1, nf)
        self.x_l, self.f_l = tensor(xl).requires_grad_(), tensor(source(xl))
        self.x_r, self.f_r = tensor(xr).requires_grad_(), tensor(source(xr))
        self.b_l, self.b_r = tensor([-1.0]), tensor([1.0])
        self.u_bl, self.u_br = tensor([exact(-1.0)]), tensor([exact(1.0)])
        self.x_i = tensor([0.0]).requires_grad_()
        self.history = []

    def residual(self, net, x, f):
        u = net(x)
        return -d(d(u, x), x) + K * u - f

    def interface(self, net):
        u = net(self.x_i)
        return u, d(u, self.x_i)

    def epoch(self):
        # 分界点上的值和通量，两边都要用
        u_l, q_l = self.interface(self.left)
        u_r, q_r = self.interface(self.right)

        loss_l = (W_F * self.residual(self.left, self.x_l, self.f_l).pow(2).mean()
                  + W_B * (self.left(self.b_l) - self.u_bl).pow(2).mean()
                  + W_I * ((u_l - u_r).pow(2).mean() + (q_l - q_r).pow(2).mean()))
        loss_r = (W_F * self.residual(self.right, self.x_r, self.f_r).pow(2).mean()
                  + W_B * (self.right(self.b_r) - self.u_br).pow(2).mean()
                  + W_I * ((u_r - u_l).pow(2).mean() + (q_r - q_l).pow(2).mean()))

        # 每个子域网络只最小化自己的损失
        self.opt_l.zero_grad()
        self.opt_r.zero_grad()
        loss_l.backward(retain_graph=True, inputs=list(self.left.parameters()))
        loss_r.backward(inputs=list(self.right.parameters()))
        self.opt_l.step()
        self.opt_r.step()
        self.history.append((loss_l.item(), loss_r.item()))

    def train(self, n):
        for it in range(n):
            self.epoch()
            if it % 3 == 0:
                print('It %d  left %.5e  right %.5e' % (it, *self.history[-1]))

    def error(self):
        xs = np.linspace(-1, 1, 41)
        with torch.no_grad():
            u = torch.where(tensor(xs) < 0, self.left(tensor(xs)), self.right(tensor(xs))).numpy().ravel()
        return np.linalg.norm(u - exact(xs)) / np.linalg.norm(exact(xs))


if __name__ == '__main__':
    model = XPINN()
    model.train(13)
    print('L2 error %.5e' % model.error())
