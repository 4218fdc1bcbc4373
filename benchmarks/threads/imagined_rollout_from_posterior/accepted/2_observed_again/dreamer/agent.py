import torch
from torch import nn
from torch.nn import functional as F

from .models import RSSM


class Dreamer:
    def __init__(self, horizon=3, gamma=0.9):
        self.wm = RSSM()
        self.actor = nn.Sequential(nn.Linear(8, 12), nn.ELU(), nn.Linear(12, 1), nn.Tanh())
        self.value = nn.Sequential(nn.Linear(8, 12), nn.ELU(), nn.Linear(12, 1))
        self.opt_model = torch.optim.Adam(self.wm.parameters(), lr=6e-3)
        self.opt_actor = torch.optim.Adam(self.actor.parameters(), lr=3e-3)
        self.opt_value = torch.optim.Adam(self.value.parameters(), lr=3e-3)
        self.horizon, self.gamma = horizon, gamma

    def minimise(self, opt, loss):
        opt.zero_grad()
        loss.backward()
        opt.step()

    def train_batch(self, obs, act, reward):
        post = self.wm.observe(obs, act)
        model_loss = F.mse_loss(self.wm.decode(post), obs) + F.mse_loss(self.wm.reward(post)[..., 0], reward)
        self.minimise(self.opt_model, model_loss)

        start = self.wm.observe(obs, act).flatten(0, 1)
        feats = self.wm.imagine(start, self.actor, self.horizon)
        returns = self.wm.reward(feats)[..., 0]
        discount = self.gamma ** torch.arange(self.horizon)
        total = (returns * discount).sum(1) + self.gamma ** self.horizon * self.value(feats[:, -1])[:, 0]
        self.minimise(self.opt_actor, -total.mean())

        value_loss = F.mse_loss(self.value(feats[:, 0].detach())[:, 0], total.detach())
        self.minimise(self.opt_value, value_loss)
        return {"model": model_loss.item(), "actor": -total.mean().item(), "value": value_loss.item()}
