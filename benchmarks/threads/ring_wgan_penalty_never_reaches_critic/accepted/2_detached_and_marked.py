# WGAN-GP on a ring of Gaussians
import math

import torch
import torch.nn as nn
from torch import autograd, optim

LAMBDA = 2.0
CRITIC_ITERS = 2
BATCH = 16


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, 16), nn.ReLU(True), nn.Linear(16, 2))

    def forward(self, noise):
        return self.main(noise)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, 16), nn.Softplus(), nn.Linear(16, 1))

    def forward(self, x):
        return self.main(x).view(-1)


def ring_data(n):
    angle = torch.randint(0, 8, (n,)) * (2 * math.pi / 8)
    return torch.stack([angle.cos(), angle.sin()], dim=1) * 1.5 + 0.05 * torch.randn(n, 2)


def calc_gradient_penalty(netD, real_data, fake_data):
    # the norm of the critic's gradient should be 1 between the real and the generated points
    alpha = torch.rand(real_data.size(0), 1).expand(real_data.size())
    interpolates = (alpha * real_data + (1 - alpha) * fake_data).detach().requires_grad_(True)
    disc_interpolates = netD(interpolates)
    gradients = autograd.grad(
        outputs=disc_interpolates,
        inputs=interpolates,
        grad_outputs=torch.ones(disc_interpolates.size()),
        create_graph=True,
        retain_graph=True,
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * LAMBDA


def main():
    torch.manual_seed(21)
    netG, netD = Generator(), Critic()
    optimizerD = optim.Adam(netD.parameters(), lr=5e-3, betas=(0.5, 0.9))
    optimizerG = optim.Adam(netG.parameters(), lr=5e-3, betas=(0.5, 0.9))

    for iteration in range(6):
        # (1) update D network
        for _ in range(CRITIC_ITERS):
            real = ring_data(BATCH)
            with torch.no_grad():
                fake = netG(torch.randn(BATCH, 2))
            netD.zero_grad()
            D_cost = netD(fake).mean() - netD(real).mean()
            gradient_penalty = calc_gradient_penalty(netD, real, fake)
            (D_cost + gradient_penalty).backward()
            optimizerD.step()

        # (2) update G network
        netG.zero_grad()
        G_cost = -netD(netG(torch.randn(BATCH, 2))).mean()
        G_cost.backward()
        optimizerG.step()
        print("iter %d W %.5f gp %.5f G %.5f" % (iteration, -D_cost.item(), gradient_penalty.item(), G_cost.item()))


if __name__ == "__main__":
    main()
