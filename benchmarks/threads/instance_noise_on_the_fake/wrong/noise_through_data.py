"""Image to image (here: vector to vector) with a conditional critic and instance noise."""
import torch
import torch.nn as nn
import torch.nn.functional as F

LAMBDA_L1 = 10.0


class Generator(nn.Module):
    def __init__(self, n_in=6, n_out=8, h=24):
        super(Generator, self).__init__()
        self.net = nn.Sequential(nn.Linear(n_in, h), nn.ReLU(True), nn.Linear(h, h), nn.ReLU(True), nn.Linear(h, n_out), nn.Tanh())

    def forward(self, x):
        return self.net(x)


class Discriminator(nn.Module):
    def __init__(self, n_in=6, n_out=8, h=24):
        super(Discriminator, self).__init__()
        self.net = nn.Sequential(nn.Linear(n_in + n_out, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, 1))

    def forward(self, x, y):
        return self.net(torch.cat([x, y], 1))


class Pix2Pix(object):
    def __init__(self, sigma=0.3, decay=0.9, lr=3e-3):
        self.G, self.D = Generator(), Discriminator()
        self.optimizer_G = torch.optim.Adam(self.G.parameters(), lr=lr, betas=(0.5, 0.999))
        self.optimizer_D = torch.optim.Adam(self.D.parameters(), lr=lr, betas=(0.5, 0.999))
        self.sigma, self.decay = sigma, decay

    def add_noise(self, images):
        """noise for the eyes of the discriminator only"""
        images.data += self.sigma * torch.randn_like(images)
        return images

    def criterion_gan(self, pred, is_real):
        target = torch.full_like(pred, 1.0 if is_real else 0.0)
        return F.mse_loss(pred, target)

    def optimize_parameters(self, real_A, real_B):
        fake_B = self.G(real_A)

        self.optimizer_D.zero_grad()
        pred_fake = self.D(real_A, self.add_noise(fake_B.detach().clone()))
        pred_real = self.D(real_A, self.add_noise(real_B.clone()))
        loss_D = 0.5 * (self.criterion_gan(pred_fake, False) + self.criterion_gan(pred_real, True))
        loss_D.backward()
        self.optimizer_D.step()

        self.optimizer_G.zero_grad()
        loss_G_GAN = self.criterion_gan(self.D(real_A, self.add_noise(fake_B)), True)
        loss_G_L1 = F.l1_loss(fake_B, real_B)
        (loss_G_GAN + LAMBDA_L1 * loss_G_L1).backward()
        self.optimizer_G.step()

        self.sigma *= self.decay
        return loss_D.item(), loss_G_GAN.item(), loss_G_L1.item()


if __name__ == '__main__':
    torch.manual_seed(77)
    W = torch.randn(6, 8) * 0.5
    model = Pix2Pix()
    for i in range(8):
        a = torch.randn(32, 6)
        d, g, l1 = model.optimize_parameters(a, torch.tanh(a @ W))
        print('(%d) D %.5f G_GAN %.5f G_L1 %.5f' % (i, d, g, l1))
