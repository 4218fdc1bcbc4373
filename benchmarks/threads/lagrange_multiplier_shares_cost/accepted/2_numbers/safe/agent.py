import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(cfg.obs, cfg.hidden), nn.Tanh(), nn.Linear(cfg.hidden, cfg.actions))

    def forward(self, obs):
        return Categorical(logits=self.net(obs))


class Agent:
    """PPO with a learned multiplier on the expected cost:  max_pi min_lambda>=0  J_r - lambda (J_c - limit)."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.pi = Policy(cfg)
        self.penalty_param = nn.Parameter(torch.tensor(cfg.penalty_init))
        self.pi_optimizer = torch.optim.Adam(self.pi.parameters(), lr=cfg.pi_lr)
        self.penalty_optimizer = torch.optim.SGD([self.penalty_param], lr=cfg.penalty_lr)

    def surrogates(self, b):
        ratio = (self.pi(b["obs"]).log_prob(b["act"]) - b["logp"]).exp()
        clipped = ratio.clamp(1 - self.cfg.clip, 1 + self.cfg.clip)
        surr = torch.min(ratio * b["adv"], clipped * b["adv"]).mean()
        surr_cost = (ratio * b["cadv"]).mean()
        return surr, surr_cost

    def update(self, b):
        for _ in range(self.cfg.pi_iters):
            penalty = F.softplus(self.penalty_param)
            surr, surr_cost = self.surrogates(b)
            cost = surr_cost + b["cost"].mean()

            lam = penalty.item()
            pi_loss = (-surr + lam * cost) / (1 + lam)
            self.pi_optimizer.zero_grad()
            pi_loss.backward()
            self.pi_optimizer.step()

            # dual ascent: the multiplier grows while the limit is violated
            penalty_loss = -penalty * (cost.item() - self.cfg.cost_limit)
            self.penalty_optimizer.zero_grad()
            penalty_loss.backward()
            self.penalty_optimizer.step()
        return dict(pi=pi_loss.item(), cost=cost.item(), lam=F.softplus(self.penalty_param).item())
