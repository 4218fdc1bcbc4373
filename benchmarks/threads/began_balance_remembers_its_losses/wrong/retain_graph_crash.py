# BEGAN (boundary equilibrium GAN) on two-dimensional toy data
import argparse
import torch
import torch.nn as nn
import torch.optim as optim

parser = argparse.ArgumentParser()
parser.add_argument('--n_iter', type=int, default=10)
parser.add_argument('--batch', type=int, default=32)
parser.add_argument('--h', type=int, default=8, help='size of the hidden code')
parser.add_argument('--lr', type=float, default=4e-3)
parser.add_argument('--gamma', type=float, default=0.7)
parser.add_argument('--lambda_k', type=float, default=0.3)
parser.add_argument('--seed', type=int, default=5)
opt = parser.parse_args()

torch.manual_seed(opt.seed)


class Generator(nn.Module):
    def __init__(self, h, n_out):
        super(Generator, self).__init__()
        self.main = nn.Sequential(
            nn.Linear(h, 24), nn.ELU(True),
            nn.Linear(24, 24), nn.ELU(True),
            nn.Linear(24, n_out),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    """ an auto-encoder, its reconstruction error is the score """

    def __init__(self, h, n_in):
        super(Discriminator, self).__init__()
        self.enc = nn.Sequential(nn.Linear(n_in, 24), nn.ELU(True), nn.Linear(24, h))
        self.dec = nn.Sequential(nn.Linear(h, 24), nn.ELU(True), nn.Linear(24, n_in))

    def forward(self, x):
        return self.dec(self.enc(x))


def real_batch(n):
    angle = torch.rand(n) * 6.2832
    ring = torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)
    return torch.cat([ring, ring ** 2], 1)


def autoencoder_loss(x, y):
    return torch.mean(torch.abs(x - y))


class BEGAN:
    def __init__(self):
        self.G = Generator(opt.h, 4)
        self.D = Discriminator(opt.h, 4)
        self.optG = optim.Adam(self.G.parameters(), lr=opt.lr, betas=(0.5, 0.999))
        self.optD = optim.Adam(self.D.parameters(), lr=opt.lr, betas=(0.5, 0.999))
        self.k_t = 0.1
        self.measure = []

    def step(self):
        real = real_batch(opt.batch)
        z_d = torch.rand(opt.batch, opt.h) * 2 - 1
        z_g = torch.rand(opt.batch, opt.h) * 2 - 1

        # ---- discriminator ----
        self.optD.zero_grad()
        fake = self.G(z_d).detach()
        d_loss_real = autoencoder_loss(self.D(real), real)
        d_loss_fake = autoencoder_loss(self.D(fake), fake)
        d_loss = d_loss_real - self.k_t * d_loss_fake
        d_loss.backward(retain_graph=True)
        self.optD.step()

        # ---- generator ----
        self.optG.zero_grad()
        fake = self.G(z_g)
        g_loss = autoencoder_loss(self.D(fake), fake)
        g_loss.backward(retain_graph=True)
        self.optG.step()

        # ---- keep the two in equilibrium: proportional control of k_t ----
        balance = opt.gamma * d_loss_real - g_loss
        self.k_t = self.k_t + opt.lambda_k * balance
        self.k_t = min(max(self.k_t, 0), 1)

        m_global = d_loss_real.item() + abs(balance.item())
        self.measure.append(m_global)
        return d_loss.item(), g_loss.item(), m_global


def main():
    gan = BEGAN()
    for it in range(opt.n_iter):
        d, g, m = gan.step()
        print('[%02d/%02d] loss_D: %.5f loss_G: %.5f k_t: %.5f M: %.5f' % (it, opt.n_iter, d, g, float(gan.k_t), m))
    print('best measure %.5f' % min(gan.measure))


if __name__ == '__main__':
    main()
