import argparse
import math
import torch
import torch.nn as nn

# 用 PINN 求解一维粘性 Burgers 方程: u_t + u u_x = nu u_xx
# 时间步进 (time marching): 把 [0, T] 分成若干个时间窗, 同一个网络逐窗微调


class PINN(nn.Module):
    def __init__(self, width=16, depth=3):
        super().__init__()
        layers, d = [], 2
        for _ in range(depth):
            layers += [nn.Linear(d, width), nn.Tanh()]
            d = width
        layers.append(nn.Linear(d, 1))
        self.net = nn.Sequential(*layers)

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


def grad(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


class TimeMarchingSolver:
    def __init__(self, args):
        self.args = args
        self.nu = 0.01 / math.pi
        self.model = PINN(args.width)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.x_ic = torch.linspace(-1, 1, 21).view(-1, 1)
        self.history = []

    def residual(self, t0, t1):
        x = (torch.rand(32, 1) * 2 - 1).requires_grad_(True)
        t = (t0 + (t1 - t0) * torch.rand(32, 1)).requires_grad_(True)
        u = self.model(x, t)
        u_t, u_x = grad(u, t), grad(u, x)
        return u_t + u * u_x - self.nu * grad(u_x, x)

    def boundary(self, t0, t1):
        t = t0 + (t1 - t0) * torch.rand(8, 1)
        one = torch.ones_like(t)
        return self.model(-one, t), self.model(one, t)

    def train_window(self, k, t0, t1, u_start):
        for epoch in range(self.args.epochs):
            loss_pde = self.residual(t0, t1).pow(2).mean()
            if k > 0:
                u_start = self.model(self.x_ic, torch.full_like(self.x_ic, t0)).detach()
            # 初始条件: 本窗起点的值要等于上一窗终点的值
            loss_ic = (self.model(self.x_ic, torch.full_like(self.x_ic, t0)) - u_start).pow(2).mean()
            left, right = self.boundary(t0, t1)
            loss_bc = left.pow(2).mean() + right.pow(2).mean()
            loss = loss_pde + self.args.w_ic * loss_ic + loss_bc
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.history.append((k, epoch, loss.item()))
        print(f"window {k}: pde {loss_pde.item():.6f} ic {loss_ic.item():.6f} bc {loss_bc.item():.6f}")

    def solve(self):
        edges = torch.linspace(0, self.args.T, self.args.windows + 1).tolist()
        u_start = -torch.sin(math.pi * self.x_ic)      # t=0 时的真实初值
        for k, (t0, t1) in enumerate(zip(edges[:-1], edges[1:])):
            self.train_window(k, t0, t1, u_start)
            # 终点的解作为下一个时间窗的初值
            u_start = self.model(self.x_ic, torch.full_like(self.x_ic, t1))
        return u_start


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--T", type=float, default=0.6)
    p.add_argument("--windows", type=int, default=3)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--width", type=int, default=16)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--w_ic", type=float, default=10.0)
    a = p.parse_args()
    torch.manual_seed(2024)
    u_T = TimeMarchingSolver(a).solve()
    print("u(T) max %.6f" % u_T.abs().max().item())
