# -*- coding: utf-8 -*-
# 用PINN求解一维热传导方程  u_t = alpha * u_xx,  x∈[0,1], t∈[0,1]
# 初始条件 u(x,0)=sin(pi x), 边界条件 u(0,t)=u(1,t)=0
import time
import numpy as np
import torch
import torch.nn as nn
from torch.autograd import grad

# 固定随机种子，方便复现
def setup_seed(seed):
    torch.manual_seed(seed)
    np.random.seed(seed)

setup_seed(888888)

device = torch.device('cpu')

# ---------------- 超参数 ----------------
alpha = 0.1        # 热扩散系数
h_size = 24        # 隐藏层神经元个数
N_f = 200          # 内部配点数
N_b = 40           # 边界点数
N_i = 40           # 初始点数
epochs = 60
lr = 1e-3


# ---------------- 网络结构 ----------------
class MLP(nn.Module):
    def __init__(self, layers):
        super(MLP, self).__init__()
        modules = []
        for i in range(len(layers) - 2):
            modules.append(nn.Linear(layers[i], layers[i + 1]))
            modules.append(nn.Tanh())
        modules.append(nn.Linear(layers[-2], layers[-1]))
        self.net = nn.Sequential(*modules)
        for m in self.net:
            if isinstance(m, nn.Linear):
                nn.init.xavier_normal_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


# ---------------- 采样 ----------------
def interior(n=N_f):
    # 内部点
    x = torch.rand(n, 1)
    t = torch.rand(n, 1)
    return x.requires_grad_(True), t.requires_grad_(True)


def left_right(n=N_b):
    # 边界点
    t = torch.rand(n, 1)
    x = torch.cat([torch.zeros(n // 2, 1), torch.ones(n - n // 2, 1)])
    return x, t, torch.zeros(n, 1)


def initial(n=N_i):
    # 初值
    x = torch.rand(n, 1)
    t = torch.zeros(n, 1)
    return x, t, torch.sin(np.pi * x)


loss_fn = nn.MSELoss()


# ---------------- 各项损失 ----------------
def loss_pde(u_net, x, t):
    # 方程残差
    u = u_net(x, t)
    u_x = grad(u.sum(), x, create_graph=True)[0]
    u_xx = grad(u_x.sum(), x, create_graph=True)[0]
    u_t = grad(u.sum(), t, create_graph=True)[0]
    f = u_t - alpha * u_xx
    return loss_fn(f, torch.zeros_like(f))


def loss_data(u_net, x, t, target):
    return loss_fn(u_net(x, t), target)


def exact(x, t):
    return np.exp(-alpha * np.pi ** 2 * t) * np.sin(np.pi * x)


def evaluate(u_net):
    # 与解析解比较
    xs, ts = np.meshgrid(np.linspace(0, 1, 21), np.linspace(0, 1, 21))
    x = torch.tensor(xs.reshape(-1, 1), dtype=torch.float32)
    t = torch.tensor(ts.reshape(-1, 1), dtype=torch.float32)
    with torch.no_grad():
        u = u_net(x, t).numpy()
    u_true = exact(xs, ts).reshape(-1, 1)
    return np.linalg.norm(u - u_true) / np.linalg.norm(u_true)


# ---------------- 训练 ----------------
if __name__ == '__main__':
    u_net = MLP([2, h_size, h_size, h_size, 1]).to(device)
    opt = torch.optim.Adam(u_net.parameters(), lr=lr)
    start = time.time()

    x_b, t_b, u_b = left_right()
    x_i, t_i, u_i = initial()

    for epoch in range(1, epochs + 1):
        opt.zero_grad()
        x_f, t_f = interior()
        l_f = loss_pde(u_net, x_f, t_f)
        l_b = loss_data(u_net, x_b, t_b, u_b)
        l_i = loss_data(u_net, x_i, t_i, u_i)
        loss = l_f + l_b + l_i
        loss.backward()
        opt.step()
        if epoch % 20 == 0:
            print('epoch: %d, loss: %.5f, 残差: %.5f, 边界: %.5f, 初值: %.5f'
                  % (epoch, loss.item(), l_f.item(), l_b.item(), l_i.item()))

    print('相对L2误差: %.4f' % evaluate(u_net))
    assert time.time() - start < 600   # 正常情况几秒钟就能跑完
