"""Toy BicycleGAN: edges -> signals with a latent code (cVAE-GAN + cLR-GAN)."""
import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument('--nz', type=int, default=4)
parser.add_argument('--width', type=int, default=16)
parser.add_argument('--n_epochs', type=int, default=4)
parser.add_argument('--batch_size', type=int, default=8)
parser.add_argument('--lr', type=float, default=2e-3)
parser.add_argument('--lambda_L1', type=float, default=10.0)
parser.add_argument('--lambda_GAN', type=float, default=1.0)
parser.add_argument('--lambda_GAN2', type=float, default=1.0)
parser.add_argument('--lambda_z', type=float, default=0.5)
parser.add_argument('--lambda_kl', type=float, default=0.01)
opt = parser.parse_args()
LENGTH = 24


class Generator(nn.Module):
    def __init__(self, nz, w):
        super().__init__()
        self.model = nn.Sequential(
            nn.Conv1d(1 + nz, w, 5, padding=2), nn.LeakyReLU(0.2),
            nn.Conv1d(w, w, 5, padding=2), nn.LeakyReLU(0.2),
            nn.Conv1d(w, 1, 5, padding=2), nn.Tanh())

    def forward(self, a, z):
        planes = z[:, :, None].expand(-1, -1, a.shape[-1])
        return self.model(torch.cat([a, planes], 1))


class Encoder(nn.Module):
    def __init__(self, nz, w):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, w, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv1d(w, w, 4, 2, 1), nn.LeakyReLU(0.2))
        self.fc = nn.Linear(w * LENGTH // 4, nz)
        self.fcVar = nn.Linear(w * LENGTH // 4, nz)

    def forward(self, b):
        h = self.conv(b).flatten(1)
        return self.fc(h), self.fcVar(h)


def define_D(w):
    return nn.Sequential(nn.Conv1d(1, w, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv1d(w, 1, 4, 2, 1))


class BiCycleGANModel:
    def __init__(self, opt):
        self.opt = opt
        self.netG = Generator(opt.nz, opt.width)
        self.netE = Encoder(opt.nz, opt.width)
        self.netD, self.netD2 = define_D(opt.width), define_D(opt.width)
        adam = lambda net: torch.optim.Adam(net.parameters(), lr=opt.lr, betas=(0.5, 0.999))
        self.optimizer_G, self.optimizer_E = adam(self.netG), adam(self.netE)
        self.optimizer_D, self.optimizer_D2 = adam(self.netD), adam(self.netD2)
        self.criterionL1 = nn.L1Loss()

    @staticmethod
    def criterionGAN(pred, real):
        return ((pred - float(real)) ** 2).mean()

    @staticmethod
    def set_requires_grad(nets, flag):
        for net in nets:
            for p in net.parameters():
                p.requires_grad = flag

    def set_input(self, a, b):
        half = len(a) // 2
        self.real_A_encoded, self.real_B_encoded = a[:half], b[:half]
        self.real_B_random = b[half:]

    def forward(self):
        mu, logvar = self.netE(self.real_B_encoded)
        self.mu, self.logvar = mu, logvar
        z_encoded = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        self.z_random = torch.randn(len(mu), self.opt.nz)
        self.fake_B_encoded = self.netG(self.real_A_encoded, z_encoded)
        self.fake_B_random = self.netG(self.real_A_encoded, self.z_random)
        self.mu2, _ = self.netE(self.fake_B_random)

    def backward_D(self, netD, real, fake):
        loss = self.criterionGAN(netD(real), True) + self.criterionGAN(netD(fake.detach()), False)
        loss.backward()
        return loss

    def backward_EG(self):
        # D(G(A, E(B))), D2(G(A, random z)), KL and L1
        self.loss_G_GAN = self.criterionGAN(self.netD(self.fake_B_encoded), True) * self.opt.lambda_GAN
        self.loss_G_GAN2 = self.criterionGAN(self.netD2(self.fake_B_random), True) * self.opt.lambda_GAN2
        self.loss_kl = -0.5 * (1 + self.logvar - self.mu**2 - self.logvar.exp()).sum() * self.opt.lambda_kl
        self.loss_G_L1 = self.criterionL1(self.fake_B_encoded, self.real_B_encoded) * self.opt.lambda_L1
        self.loss_G = self.loss_G_GAN + self.loss_G_GAN2 + self.loss_G_L1 + self.loss_kl
        self.loss_z_L1 = (self.mu2 - self.z_random).abs().mean() * self.opt.lambda_z
        (self.loss_G + self.loss_z_L1).backward()

    def backward_G_alone(self):
        # reconstruction of the random code trains G only
        pass

    def update_G_and_E(self):
        self.set_requires_grad([self.netD, self.netD2], False)
        self.optimizer_E.zero_grad()
        self.optimizer_G.zero_grad()
        self.backward_EG()
        if self.opt.lambda_z > 0.0:
            self.set_requires_grad([self.netE], False)
            self.backward_G_alone()
            self.set_requires_grad([self.netE], True)
        self.optimizer_E.step()
        self.optimizer_G.step()

    def update_D(self):
        self.set_requires_grad([self.netD, self.netD2], True)
        self.optimizer_D.zero_grad()
        self.loss_D = self.backward_D(self.netD, self.real_B_encoded, self.fake_B_encoded)
        self.optimizer_D.step()
        self.optimizer_D2.zero_grad()
        self.loss_D2 = self.backward_D(self.netD2, self.real_B_random, self.fake_B_random)
        self.optimizer_D2.step()

    def optimize_parameters(self):
        self.forward()
        self.update_G_and_E()
        self.update_D()


def make_pairs(n):
    phase, sharp = torch.rand(n, 1) * 6.28, torch.rand(n, 1) * 3 + 0.5
    t = torch.linspace(0, 6.28, LENGTH)
    wave = torch.sin(t + phase)
    return torch.sign(wave)[:, None], torch.tanh(sharp * wave)[:, None]


if __name__ == '__main__':
    torch.manual_seed(11)
    A, B = make_pairs(32)
    model = BiCycleGANModel(opt)
    for epoch in range(opt.n_epochs):
        for i in range(0, len(A), opt.batch_size):
            model.set_input(A[i:i + opt.batch_size], B[i:i + opt.batch_size])
            model.optimize_parameters()
        losses = {k: getattr(model, 'loss_' + k).item() for k in ('G_GAN', 'G_L1', 'kl', 'z_L1', 'D', 'D2')}
        print('(epoch: %d) ' % (epoch + 1) + ' '.join('%s: %.5f' % kv for kv in losses.items()))
