# training.py -- one scale of a single-image pyramid
import argparse
import torch
import torch.nn as nn
import torch.optim as optim


class ConvBlock(nn.Sequential):
    def __init__(self, i, o):
        super().__init__(nn.Conv2d(i, o, 3, padding=1), nn.LeakyReLU(0.2))


class WDiscriminator(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.head, self.body = ConvBlock(1, opt.nfc), ConvBlock(opt.nfc, opt.nfc)
        self.tail = nn.Conv2d(opt.nfc, 1, 3)

    def forward(self, x):
        return self.tail(self.body(self.head(x)))


class Generator(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.head, self.body = ConvBlock(1, opt.nfc), ConvBlock(opt.nfc, opt.nfc)
        self.tail = nn.Sequential(nn.Conv2d(opt.nfc, 1, 3, padding=1), nn.Tanh())

    def forward(self, x, y):
        return self.tail(self.body(self.head(x))) + y


def calc_gradient_penalty(netD, real, fake, lambda_):
    alpha = torch.rand(1, 1)
    inter = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    out = netD(inter)
    g, = torch.autograd.grad(out, inter, torch.ones_like(out), create_graph=True)
    return ((g.norm(2, dim=1) - 1) ** 2).mean() * lambda_


def make_image(n):
    r = torch.linspace(-2, 2, n)
    return (torch.sin(3 * r)[:, None] * torch.cos(2 * r)[None, :])[None, None]


def train_single_scale(netD, netG, real, prev, opt):
    z_opt = torch.randn_like(real)
    optimizerD = optim.Adam(netD.parameters(), lr=opt.lr_d, betas=(opt.beta1, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=opt.lr_g, betas=(opt.beta1, 0.999))
    for epoch in range(opt.niter):
        ############################
        # (1) Update D network: maximize D(x) + D(G(z))
        ###########################
        for j in range(opt.Dsteps):
            netD.zero_grad()
            errD_real = -netD(real).mean()
            errD_real.backward(retain_graph=True)

            noise = opt.noise_amp * torch.randn_like(real) + prev
            fake = netG(noise.detach(), prev)
            errD_fake = netD(fake.detach()).mean()
            errD_fake.backward(retain_graph=True)
            gp = calc_gradient_penalty(netD, real, fake.detach(), opt.lambda_grad)
            gp.backward()
            optimizerD.step()

        ############################
        # (2) Update G network: maximize D(G(z))
        ###########################
        for j in range(opt.Gsteps):
            netG.zero_grad()
            output = netD(fake)
            errG = -output.mean()
            errG.backward(retain_graph=True)
            loss = nn.MSELoss()
            rec_loss = opt.alpha * loss(netG((opt.noise_amp * z_opt + prev).detach(), prev), real)
            rec_loss.backward(retain_graph=True)
        optimizerG.step()

        print('[%d/%d] D %.6f G %.6f rec %.6f' % (epoch, opt.niter, (errD_real + errD_fake).item(), errG.item(), rec_loss.item()))
    return z_opt


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--nfc', type=int, default=6)
    parser.add_argument('--niter', type=int, default=3)
    parser.add_argument('--Gsteps', type=int, default=3)
    parser.add_argument('--Dsteps', type=int, default=3)
    parser.add_argument('--lr_g', type=float, default=0.002)
    parser.add_argument('--lr_d', type=float, default=0.002)
    parser.add_argument('--beta1', type=float, default=0.5)
    parser.add_argument('--lambda_grad', type=float, default=0.1)
    parser.add_argument('--alpha', type=float, default=10)
    parser.add_argument('--noise_amp', type=float, default=0.3)
    opt = parser.parse_args()
    torch.manual_seed(148)
    real = make_image(14)
    prev = nn.functional.avg_pool2d(real, 3, 1, 1)
    train_single_scale(WDiscriminator(opt), Generator(opt), real, prev, opt)
