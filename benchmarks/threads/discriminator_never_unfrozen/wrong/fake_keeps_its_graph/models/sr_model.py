import torch

import networks
from .base_model import BaseModel


class SRModel(BaseModel):
    loss_names = ['G_GAN', 'G_L1', 'D_real', 'D_fake']

    def __init__(self, opt):
        self.opt = opt
        self.netG = networks.define_G(opt.ngf)
        self.netD = networks.define_D(opt.ngf)
        self.criterionGAN, self.criterionL1 = networks.GANLoss(), torch.nn.L1Loss()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))

    def set_input(self, input):
        self.real_A, self.real_B = input['A'], input['B']

    def forward(self):
        self.fake_B = self.real_A + self.netG(self.real_A)

    def backward_G(self):
        pred_fake = self.netD(torch.cat((self.real_A, self.fake_B), 1))
        self.loss_G_GAN = self.criterionGAN(pred_fake, True)
        self.loss_G_L1 = self.criterionL1(self.fake_B, self.real_B) * self.opt.lambda_L1
        (self.loss_G_GAN + self.loss_G_L1).backward()

    def backward_D(self):
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        self.loss_D_fake = self.criterionGAN(self.netD(fake_AB), False)
        self.loss_D_real = self.criterionGAN(self.netD(torch.cat((self.real_A, self.real_B), 1)), True)
        self.loss_D = (self.loss_D_fake + self.loss_D_real) * 0.5
        self.loss_D.backward()

    def optimize_parameters(self):
        self.forward()
        # G: дискриминатор заморожен
        self.set_requires_grad(self.netD, False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
        self.forward()
        # D
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()
