import torch
import torch.nn as nn


class RunningMeanStd:
    def __init__(self, eps=1e-4):
        self.mean, self.var, self.count = torch.zeros(()), torch.ones(()), eps

    def update(self, x):
        n = x.numel()
        m, v = x.mean(), x.var(unbiased=False)
        delta, tot = m - self.mean, self.count + n
        self.mean = self.mean + delta * n / tot
        self.var = (self.var * self.count + v * n + delta ** 2 * self.count * n / tot) / tot
        self.count = tot


class RND(nn.Module):
    def __init__(self, n_obs, width=24, n_out=8):
        super().__init__()
        self.target = nn.Sequential(nn.Linear(n_obs, width), nn.ReLU(), nn.Linear(width, n_out))
        self.predictor = nn.Sequential(nn.Linear(n_obs, width), nn.ReLU(), nn.Linear(width, n_out))
        for p in self.target.parameters():
            p.requires_grad_(False)
        self.rms = RunningMeanStd()

    def error(self, obs):
        return (self.predictor(obs) - self.target(obs)).pow(2).mean(dim=1)

    def bonus(self, error):
        error = error.detach()
        self.rms.update(error)
        return error / (self.rms.var.sqrt() + 1e-8)
