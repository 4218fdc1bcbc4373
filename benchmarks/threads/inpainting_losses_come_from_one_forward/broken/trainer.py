import torch
from torch import nn

from networks import Dis, Generator


class Trainer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.netG = Generator(config["netG"])
        self.globalD = Dis(config["netD"])
        beta = (config["beta1"], config["beta2"])
        self.optimizer_g = torch.optim.Adam(self.netG.parameters(), lr=config["lr"], betas=beta)
        self.optimizer_d = torch.optim.Adam(self.globalD.parameters(), lr=config["lr"], betas=beta)

    def forward(self, x, mask, ground_truth, compute_loss_g=False):
        l1_loss = nn.L1Loss()
        losses = {}
        x1, x2 = self.netG(x, mask)
        x1_inpaint = x1 * mask + x * (1.0 - mask)
        x2_inpaint = x2 * mask + x * (1.0 - mask)

        # D part
        real_pred = self.globalD(ground_truth)
        fake_pred = self.globalD(x2_inpaint.detach())
        losses["wgan_d"] = torch.mean(fake_pred - real_pred)
        losses["wgan_gp"] = self.calc_gradient_penalty(self.globalD, ground_truth, x2_inpaint.detach())

        # G part
        if compute_loss_g:
            a = self.config["coarse_l1_alpha"]
            losses["l1"] = l1_loss(x1_inpaint * mask, ground_truth * mask) * a + l1_loss(x2_inpaint * mask, ground_truth * mask)
            losses["ae"] = l1_loss(x1 * (1.0 - mask), ground_truth * (1.0 - mask)) * a + l1_loss(x2 * (1.0 - mask), ground_truth * (1.0 - mask))
            losses["wgan_g"] = -self.globalD(x2_inpaint).mean()
        return losses, x2_inpaint

    @staticmethod
    def calc_gradient_penalty(netD, real, fake):
        alpha = torch.rand(len(real), 1, 1, 1)
        interpolates = (real + alpha * (fake - real)).requires_grad_(True)
        scores = netD(interpolates)
        gradients = torch.autograd.grad(scores, interpolates, torch.ones_like(scores), create_graph=True)[0]
        return ((gradients.flatten(1).norm(2, dim=1) - 1) ** 2).mean()
