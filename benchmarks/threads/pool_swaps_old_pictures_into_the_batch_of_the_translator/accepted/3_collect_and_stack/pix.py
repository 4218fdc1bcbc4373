import torch
import torch.nn as nn
import torch.nn.functional as F
from image_pool import ImagePool


class Generator(nn.Module):
    def __init__(self, ngf=12):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, ngf, 3, 1, 1), nn.LeakyReLU(0.2),
                                  nn.Conv2d(ngf, ngf * 2, 4, 2, 1), nn.LeakyReLU(0.2))
        self.up = nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1)
        self.out = nn.Conv2d(ngf, 3, 3, 1, 1)

    def forward(self, x):
        return torch.tanh(self.out(F.relu(self.up(self.down(x)))))


def patch_discriminator(ndf=10):
    return nn.Sequential(nn.Conv2d(3, ndf, 3, 1, 1), nn.LeakyReLU(0.2),
                         nn.Conv2d(ndf, ndf, 3, 2, 1), nn.LeakyReLU(0.2),
                         nn.Conv2d(ndf, 1, 1))


class TwoScaleTranslator:
    def __init__(self, opt):
        self.opt = opt
        self.netG = Generator()
        self.netD_fine = patch_discriminator()
        self.netD_coarse = patch_discriminator()
        self.fake_pool = ImagePool(opt.pool_size)
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt.lr, betas=(0.5, 0.999))
        d_params = list(self.netD_fine.parameters()) + list(self.netD_coarse.parameters())
        self.optimizer_D = torch.optim.Adam(d_params, lr=opt.lr, betas=(0.5, 0.999))

    def set_input(self, real_A, real_B):
        self.real_A, self.real_B = real_A, real_B

    def gan_loss(self, image, is_real):
        fine = self.netD_fine(image)
        coarse = self.netD_coarse(F.avg_pool2d(image, 2))
        target = 1.0 if is_real else 0.0
        return ((fine - target) ** 2).mean() + ((coarse - target) ** 2).mean()

    def backward_D(self):
        # the discriminators also see pictures of older generators
        fake = self.fake_pool.query(self.fake_B.detach())
        loss_D = 0.5 * (self.gan_loss(self.real_B, True) + self.gan_loss(fake, False))
        loss_D.backward()
        return loss_D

    def backward_G(self):
        loss_gan = self.gan_loss(self.fake_B, True)
        loss_l1 = F.l1_loss(self.fake_B, self.real_B) * self.opt.lambda_l1
        (loss_gan + loss_l1).backward()
        return loss_gan, loss_l1

    def optimize_parameters(self):
        self.fake_B = self.netG(self.real_A)

        self.optimizer_D.zero_grad()
        loss_D = self.backward_D()
        self.optimizer_D.step()

        self.optimizer_G.zero_grad()
        loss_gan, loss_l1 = self.backward_G()
        self.optimizer_G.step()
        return {"D": loss_D.item(), "G_GAN": loss_gan.item(), "G_L1": loss_l1.item()}
