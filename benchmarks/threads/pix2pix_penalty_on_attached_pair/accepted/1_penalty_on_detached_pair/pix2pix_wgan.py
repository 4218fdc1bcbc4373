import torch

import networks


class Pix2PixWGANModel:
    def __init__(self, opt):
        self.opt = opt
        self.netG = networks.define_G(opt.input_nc, opt.output_nc, opt.ngf)
        self.netD = networks.define_D(opt.input_nc + opt.output_nc, opt.ndf)
        self.criterionL1 = torch.nn.L1Loss()
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt.lr, betas=(opt.beta1, 0.9))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=opt.lr, betas=(opt.beta1, 0.9))

    def set_input(self, data):
        AtoB = self.opt.direction == 'AtoB'
        self.real_A = data['A' if AtoB else 'B']
        self.real_B = data['B' if AtoB else 'A']

    def forward(self):
        self.fake_B = self.netG(self.real_A)

    def backward_D(self):
        # Fake; stop backprop to the generator by detaching fake_B
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        pred_fake = self.netD(fake_AB.detach())
        self.loss_D_fake = pred_fake.mean()
        # Real
        real_AB = torch.cat((self.real_A, self.real_B), 1)
        pred_real = self.netD(real_AB)
        self.loss_D_real = -pred_real.mean()
        # gradient penalty
        self.gradient_penalty, _ = networks.cal_gradient_penalty(self.netD, real_AB, fake_AB.detach(), lambda_gp=self.opt.lambda_gp)
        self.loss_D = self.loss_D_fake + self.loss_D_real + self.gradient_penalty
        self.loss_D.backward()

    def backward_G(self):
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        self.loss_G_GAN = -self.netD(fake_AB).mean()
        self.loss_G_L1 = self.criterionL1(self.fake_B, self.real_B) * self.opt.lambda_L1
        self.loss_G = self.loss_G_GAN + self.loss_G_L1
        self.loss_G.backward()

    def optimize_parameters(self):
        self.optimizer_G.zero_grad()
        self.forward()
        # critic, n times per generator step
        networks.set_requires_grad(self.netD, True)
        for _ in range(self.opt.n_critic):
            self.optimizer_D.zero_grad()
            self.backward_D()
            self.optimizer_D.step()
        # generator
        networks.set_requires_grad(self.netD, False)
        self.backward_G()
        self.optimizer_G.step()

    def current_losses(self):
        return {k: float(getattr(self, 'loss_' + k)) for k in ('G_GAN', 'G_L1', 'D_real', 'D_fake')}
