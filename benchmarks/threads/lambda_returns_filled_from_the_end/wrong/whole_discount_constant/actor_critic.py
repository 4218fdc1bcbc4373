from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Independent, Normal

from returns import lambda_return


@dataclass
class Config:
    deter: int = 10
    act: int = 2
    horizon: int = 5
    lam: float = 0.9
    gamma: float = 0.97
    entropy: float = 1e-2
    actor_lr: float = 4e-3
    value_lr: float = 8e-3
    slow_every: int = 2


def head(n_in, n_out, width=20):
    return nn.Sequential(nn.Linear(n_in, width), nn.ELU(), nn.Linear(width, n_out))


class Dynamics(nn.Module):
    """already trained in stage 1, frozen here. Predicts reward and continuation (pcont) of imagined states."""

    def __init__(self, cfg):
        super().__init__()
        self.cell = nn.GRUCell(cfg.act, cfg.deter)
        self.reward = head(cfg.deter, 1)
        self.pcont = head(cfg.deter, 1)
        for p in self.parameters():
            p.requires_grad_(False)


class ActorCritic(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.actor = head(cfg.deter, 2 * cfg.act)
        self.value = head(cfg.deter, 1)
        self.slow_value = head(cfg.deter, 1)
        self.slow_value.load_state_dict(self.value.state_dict())
        self.slow_value.requires_grad_(False)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=cfg.actor_lr)
        self.value_opt = torch.optim.Adam(self.value.parameters(), lr=cfg.value_lr)
        self.updates = 0

    def policy(self, s):
        mean, std = self.actor(s).chunk(2, -1)
        return Independent(Normal(torch.tanh(mean), F.softplus(std) + 0.1), 1)

    def imagine(self, dyn, s):
        states, ents = [s], []
        for _ in range(self.cfg.horizon):
            pi = self.policy(states[-1].detach())
            ents.append(pi.entropy())
            states.append(dyn.cell(pi.rsample(), states[-1]))
        return torch.stack(states), torch.stack(ents)

    def train_step(self, dyn, start):
        cfg = self.cfg
        states, ents = self.imagine(dyn, start)
        reward = dyn.reward(states[1:]).squeeze(-1)
        disc = cfg.gamma * torch.sigmoid(dyn.pcont(states[1:])).squeeze(-1)
        value = self.slow_value(states).squeeze(-1)
        target = lambda_return(reward, value, disc.detach(), cfg.lam)

        # dynamics backprop: actions are judged through reward, continuation and value of what they lead to
        weight = torch.cat([torch.ones_like(disc[:1]), disc[:-1]]).cumprod(0).detach()
        actor_loss = -(weight * (target + cfg.entropy * ents)).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        nn.utils.clip_grad_norm_(self.actor.parameters(), 100.0)
        self.actor_opt.step()

        v = self.value(states[:-1].detach()).squeeze(-1)
        value_loss = 0.5 * (weight * (v - target.detach()) ** 2).mean()
        self.value_opt.zero_grad()
        value_loss.backward()
        self.value_opt.step()

        self.updates += 1
        if self.updates % cfg.slow_every == 0:
            self.slow_value.load_state_dict(self.value.state_dict())
        return actor_loss.item(), value_loss.item(), target.mean().item()
