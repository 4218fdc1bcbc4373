import math

import torch
import torch.nn as nn


class SystemModel:
    """constant velocity in one dimension, the position is measured"""

    def __init__(self, dt=0.3, q=0.05, r=0.3):
        self.F = torch.tensor([[1.0, dt], [0.0, 1.0]])
        self.H = torch.tensor([[1.0, 0.0]])
        self.q, self.r = q, r
        self.m, self.n = 2, 1

    def f(self, x):
        return self.F @ x

    def h(self, x):
        return self.H @ x

    def generate(self, T, gen):
        x = torch.tensor([[0.0], [1.0]])
        xs, ys = [], []
        for _ in range(T):
            x = self.f(x) + math.sqrt(self.q) * torch.randn(2, 1, generator=gen)
            xs.append(x)
            ys.append(self.h(x) + math.sqrt(self.r) * torch.randn(1, 1, generator=gen))
        return torch.cat(xs, 1), torch.cat(ys, 1)


class KalmanNetNN(nn.Module):
    """Kalman gain by a GRU"""

    def __init__(self, ssModel, hidden_dim=14):
        super().__init__()
        self.ss = ssModel
        self.m, self.n = ssModel.m, ssModel.n
        self.KG_l1 = nn.Linear(self.m + self.n, 16)
        self.rnn_GRU = nn.GRUCell(16, hidden_dim)
        self.KG_l2 = nn.Linear(hidden_dim, self.m * self.n)
        self.hidden_dim = hidden_dim

    def InitSequence(self, M1_0):
        self.m1x_posterior = M1_0
        self.m1x_prior_previous = M1_0
        self.hn = torch.zeros(1, self.hidden_dim)

    def step_prior(self):
        self.m1x_prior = self.ss.f(self.m1x_posterior)
        self.m1y = self.ss.h(self.m1x_prior)

    def step_KGain_est(self, y):
        dm1x = (self.m1x_posterior - self.m1x_prior_previous).view(1, -1)
        dm1y = (y - self.m1y).view(1, -1)
        features = torch.cat([nn.functional.normalize(dm1x, p=2, dim=1, eps=1e-2), dm1y], dim=1)
        self.hn = self.rnn_GRU(torch.relu(self.KG_l1(features)), self.hn)
        self.KGain = self.KG_l2(self.hn).view(self.m, self.n)

    def KNet_step(self, y):
        self.step_prior()
        self.step_KGain_est(y)
        self.m1x_prior_previous = self.m1x_prior
        self.m1x_posterior = self.m1x_prior + self.KGain @ (y - self.m1y)
        return self.m1x_posterior

    def forward(self, y):
        return self.KNet_step(y.view(self.n, 1))
