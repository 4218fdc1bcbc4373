from collections import OrderedDict

import torch
import torch.nn as nn


class UNetSmall(nn.Module):
    def __init__(self, ngf):
        super().__init__()
        self.down1 = nn.Conv2d(3, ngf, 4, 2, 1)
        self.down2 = nn.Sequential(nn.LeakyReLU(0.2), nn.Conv2d(ngf, ngf * 2, 4, 2, 1), nn.InstanceNorm2d(ngf * 2))
        self.up2 = nn.Sequential(nn.ReLU(), nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1), nn.InstanceNorm2d(ngf))
        self.up1 = nn.Sequential(nn.ReLU(), nn.ConvTranspose2d(ngf * 2, 3, 4, 2, 1), nn.Tanh())

    def forward(self, x):
        d1 = self.down1(x)
        u2 = self.up2(self.down2(d1))
        return self.up1(torch.cat([u2, d1], 1))


class PatchD(nn.Module):
    def __init__(self, ndf):
        super().__init__()
        self.model = nn.Sequential(
            nn.Conv2d(6, ndf, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1), nn.InstanceNorm2d(ndf * 2), nn.LeakyReLU(0.2),
            nn.Conv2d(ndf * 2, 1, 3, 1, 1))

    def forward(self, pair):
        return self.model(pair)


class Pix2PixModel:
    def __init__(self, opt):
        self.opt = opt
        self.loss_names = ['G_GAN', 'G_L1', 'D_real', 'D_fake']
        self.visual_names = ['fake_B', 'real_B']
        self.netG, self.netD = UNetSmall(opt.ngf), PatchD(opt.ngf)
        self.netG.apply(self._init)
        self.netD.apply(self._init)
        self.criterionGAN, self.criterionL1 = nn.MSELoss(), nn.L1Loss()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))
        self.schedulers = [torch.optim.lr_scheduler.ExponentialLR(o, 0.9) for o in (self.optimizer_G, self.optimizer_D)]

    @staticmethod
    def _init(m):
        if isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)):
            nn.init.normal_(m.weight, 0.0, 0.02)

    def set_input(self, batch):
        self.real_A, self.real_B = batch['A'], batch['B']
        self.image_paths = batch['path']

    def forward(self):
        self.fake_B = self.netG(self.real_A)

    def backward_D(self):
        pred_fake = self.netD(torch.cat((self.real_A, self.fake_B), 1).detach())
        self.loss_D_fake = self.criterionGAN(pred_fake, torch.zeros_like(pred_fake))
        pred_real = self.netD(torch.cat((self.real_A, self.real_B), 1))
        self.loss_D_real = self.criterionGAN(pred_real, torch.ones_like(pred_real))
        ((self.loss_D_fake + self.loss_D_real) * 0.5).backward()

    def backward_G(self):
        pred_fake = self.netD(torch.cat((self.real_A, self.fake_B), 1))
        self.loss_G_GAN = self.criterionGAN(pred_fake, torch.ones_like(pred_fake))
        self.loss_G_L1 = self.criterionL1(self.fake_B, self.real_B) * self.opt.lambda_l1
        (self.loss_G_GAN + self.loss_G_L1).backward()

    def set_requires_grad(self, net, flag):
        for p in net.parameters():
            p.requires_grad = flag

    def optimize_parameters(self):
        self.set_requires_grad(self.netD, True)
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()
        self.set_requires_grad(self.netD, False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()

    def update_learning_rate(self):
        for s in self.schedulers:
            s.step()

    def get_current_visuals(self):
        return OrderedDict((name, getattr(self, name)) for name in self.visual_names)

    def get_current_losses(self):
        return OrderedDict((name, float(getattr(self, 'loss_' + name))) for name in self.loss_names)
