import torch
from torch.nn import functional as F

from .losses import artifact_consistency, ls_critic, ls_generator
from .networks import ADN, PatchCritic


class ADNTrainer:
    def __init__(self, width, lr, betas, wgts):
        self.net, self.critic = ADN(width), PatchCritic(width)
        self.opt_g = torch.optim.Adam(self.net.parameters(), lr=lr, betas=betas)
        self.opt_d = torch.optim.Adam(self.critic.parameters(), lr=lr, betas=betas)
        self.wgts = wgts

    def optimize(self, low, high):
        out = self.net(low, high)
        w = self.wgts
        loss_d = ls_critic(self.critic(high), self.critic(out["lh"].detach()))
        loss_gl = ls_generator(self.critic(out["lh"]))
        loss_ll = F.l1_loss(out["ll"], low)
        loss_hh = F.l1_loss(out["hh"], high)
        loss_art = artifact_consistency(low, out, high)
        loss_g = w["gl"] * loss_gl + w["ll"] * loss_ll + w["hh"] * loss_hh + w["art"] * loss_art

        # critic
        self.opt_d.zero_grad()
        loss_d.backward()
        self.opt_d.step()

        # generator
        self.opt_g.zero_grad()
        loss_g.backward()
        self.opt_g.step()
        return {"d": loss_d.item(), "gl": loss_gl.item(), "ll": loss_ll.item(), "art": loss_art.item()}
