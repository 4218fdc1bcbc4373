import torch
import torch.nn as nn

from networks import UNetTiny, PatchD, GANLoss, set_requires_grad


class Pix2PixModel:
    """A -> B with three losses for G: adversarial, L1 and feature matching."""

    def __init__(self, opt):
        self.opt = opt
        self.netG = UNetTiny()
        self.netD = PatchD()
        self.criterionGAN = GANLoss()
        self.criterionL1 = nn.L1Loss()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt.lr, betas=(0.5, 0.999))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=opt.lr, betas=(0.5, 0.999))

    def set_input(self, batch):
        self.real_A, self.real_B = batch

    def forward(self):
        self.fake_B = self.netG(self.real_A)

    def backward_D(self):
        # no gradient to G here
        self.fake_B = self.fake_B.detach()
        pred_fake = self.netD(torch.cat((self.real_A, self.fake_B), 1))
        self.loss_D_fake = self.criterionGAN(pred_fake, False)

        pred_real = self.netD(torch.cat((self.real_A, self.real_B), 1))
        self.loss_D_real = self.criterionGAN(pred_real, True)

        self.loss_D = (self.loss_D_fake + self.loss_D_real) * 0.5
        self.loss_D.backward()

    def backward_G(self):
        pred_fake, feat_fake = self.netD(torch.cat((self.real_A, self.fake_B), 1), with_features=True)
        with torch.no_grad():
            _, feat_real = self.netD(torch.cat((self.real_A, self.real_B), 1), with_features=True)

        self.loss_G_GAN = self.criterionGAN(pred_fake, True)
        self.loss_G_L1 = self.criterionL1(self.fake_B, self.real_B) * self.opt.lambda_L1
        self.loss_G_FM = sum(self.criterionL1(f, r) for f, r in zip(feat_fake, feat_real)) * self.opt.lambda_FM
        self.loss_G = self.loss_G_GAN + self.loss_G_L1 + self.loss_G_FM
        self.loss_G.backward()

    def optimize_parameters(self):
        self.forward()
        # update D
        set_requires_grad(self.netD, True)
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()
        # update G, D is held fixed
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()

    def get_current_losses(self):
        names = ['D_fake', 'D_real', 'G_GAN', 'G_L1', 'G_FM']
        return {n: float(getattr(self, 'loss_' + n)) for n in names}
