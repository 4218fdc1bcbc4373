import random

import torch
from torch import nn
import torch.nn.functional as F

random.seed(4)


class Net(nn.Module):
    self_condition = True

    def __init__(self, dim, hid=20):
        super().__init__()
        self.inp, self.cond = nn.Linear(dim + 1, hid), nn.Linear(dim, hid, bias=False)
        self.out = nn.Sequential(nn.SiLU(), nn.Linear(hid, dim))

    def forward(self, x, t, x_self_cond=None):
        h = self.inp(torch.cat((x, t), 1))
        if x_self_cond is not None:
            h = h + self.cond(x_self_cond)
        return self.out(h)


class GaussianDiffusion(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def predict_start(self, x, t):
        noise = self.model(x, t)
        return ((x - t.sqrt() * noise) / (1 - t).sqrt()).clamp(-1, 1)

    def forward(self, x0):
        t = torch.rand(len(x0), 1) * 0.9
        noise = torch.randn_like(x0)
        x = (1 - t).sqrt() * x0 + t.sqrt() * noise
        x_self_cond = None
        if self.model.self_condition and random.random() < 0.7:
            with torch.inference_mode():
                x_self_cond = self.predict_start(x, t)
        pred = self.model(x, t, None)
        return F.mse_loss(pred, noise)
