# -*- coding: utf-8 -*-
# MAML for calibrating temperature sensors: every sensor has its own characteristic curve,
# a handful of reference measurements has to be enough to calibrate a new one.
# (homework 3 of the meta learning course)
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

np.random.seed(14)
torch.manual_seed(14)

N_ITER = 40
META_BATCH = 4
K_SUPPORT = 6
K_QUERY = 12
INNER_STEPS = 2
INNER_LR = 0.05
META_LR = 3e-3


class SensorTasks:
    """reading -> temperature, thermistor-like curves"""

    def sample(self):
        gain = np.random.uniform(0.5, 1.5)
        offset = np.random.uniform(-0.5, 0.5)
        curve = np.random.uniform(0.2, 1.0)

        def draw(n):
            r = np.random.uniform(-1, 1, (n, 1))
            t = gain * r + curve * np.tanh(3 * r) + offset + 0.02 * np.random.randn(n, 1)
            return torch.tensor(r, dtype=torch.float32), torch.tensor(t, dtype=torch.float32)

        return draw(K_SUPPORT), draw(K_QUERY)


class CalibrationNet(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        sizes = [(hidden, 1), (hidden, hidden), (1, hidden)]
        self.vars = nn.ParameterList()
        for out_dim, in_dim in sizes:
            w = nn.Parameter(torch.empty(out_dim, in_dim))
            nn.init.xavier_normal_(w)
            self.vars.append(w)
            self.vars.append(nn.Parameter(torch.zeros(out_dim)))

    def forward(self, x, vars=None):
        if vars is None:
            vars = self.vars
        x = torch.tanh(F.linear(x, vars[0], vars[1]))
        x = torch.tanh(F.linear(x, vars[2], vars[3]))
        return F.linear(x, vars[4], vars[5])


class Meta:
    def __init__(self):
        self.net = CalibrationNet()
        self.meta_optim = torch.optim.Adam(self.net.parameters(), lr=META_LR)
        self.tasks = SensorTasks()

    def inner_step(self, x, y, weights):
        loss = F.mse_loss(self.net(x, weights), y)
        grads = torch.autograd.grad(loss, weights, create_graph=True)
        return [w - INNER_LR * g for w, g in zip(weights, grads)]

    def train_step(self):
        self.meta_optim.zero_grad()
        losses_q = []
        for i in range(META_BATCH):
            (x_spt, y_spt), (x_qry, y_qry) = self.tasks.sample()
            fast_weights = list(self.net.parameters())
            for k in range(INNER_STEPS):
                fast_weights = self.inner_step(x_spt, y_spt, fast_weights)
            loss_q = F.mse_loss(self.net(x_qry, fast_weights), y_qry)
            # gradients of the tasks add up in .grad, saves memory
            (loss_q / META_BATCH).backward()
            losses_q.append(loss_q.item())
        self.meta_optim.step()
        return np.mean(losses_q)

    def evaluate(self, n_tasks=8):
        before, after = [], []
        for _ in range(n_tasks):
            (x_spt, y_spt), (x_qry, y_qry) = self.tasks.sample()
            weights = list(self.net.parameters())
            before.append(F.mse_loss(self.net(x_qry, weights), y_qry).item())
            for k in range(INNER_STEPS):
                weights = self.inner_step(x_spt, y_spt, weights)
            after.append(F.mse_loss(self.net(x_qry, weights), y_qry).item())
        return np.mean(before), np.mean(after)


meta = Meta()
running = []
for it in range(N_ITER):
    running.append(meta.train_step())
    if (it + 1) % 10 == 0:
        print('iter %3d  meta loss %.6f' % (it + 1, np.mean(running[-10:])))
print('new sensors: before %.6f after adaptation %.6f' % meta.evaluate())
