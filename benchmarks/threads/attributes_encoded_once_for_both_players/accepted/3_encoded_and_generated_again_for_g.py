# Attribute-to-face toy GAN.  G(z, c) and D(x, c) both see the attributes through the same little
# conditioning net (C).  C belongs to the generator: its weights sit in optG, D only looks at c.
import random

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

manualSeed = 999
random.seed(manualSeed)
np.random.seed(manualSeed)
torch.manual_seed(manualSeed)

nz, nc_dim, n_attr, n_pix = 10, 6, 5, 64
batch_size = 16
lr = 2e-4 * 5
beta1 = 0.5
num_epochs = 2


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.08)
        if m.bias is not None:
            nn.init.zeros_(m.bias)


class CondNet(nn.Module):
    """attributes (0/1) -> conditioning vector"""

    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(n_attr, 12), nn.LeakyReLU(0.2), nn.Linear(12, nc_dim), nn.Tanh())

    def forward(self, a):
        return self.main(a)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(nz + nc_dim, 48, bias=False), nn.BatchNorm1d(48), nn.ReLU(),
            nn.Linear(48, n_pix), nn.Tanh())

    def forward(self, z, c):
        return self.main(torch.cat([z, c], 1))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.img = nn.Sequential(nn.Linear(n_pix, 32), nn.LeakyReLU(0.2))
        self.out = nn.Sequential(nn.Linear(32 + nc_dim, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x, c):
        return self.out(torch.cat([self.img(x), c], 1)).view(-1)


def faces(n):
    """'faces': stripes whose phase follows the attributes"""
    g = torch.Generator().manual_seed(5)
    attr = (torch.rand(n, n_attr, generator=g) > 0.5).float()
    t = torch.linspace(0, 6.28, n_pix)
    code = attr @ torch.arange(1.0, n_attr + 1)
    x = torch.sin(t[None] + code[:, None]) * 0.8
    return x + 0.05 * torch.randn(n, n_pix, generator=g), attr


netC, netG, netD = CondNet(), Generator(), Discriminator()
for net in (netC, netG, netD):
    net.apply(weights_init)

criterion = nn.BCEWithLogitsLoss()
optD = optim.Adam(netD.parameters(), lr=lr, betas=(beta1, 0.999))
optG = optim.Adam(list(netG.parameters()) + list(netC.parameters()), lr=lr, betas=(beta1, 0.999))

images, attributes = faces(64)
real_label, fake_label = 0.9, 0.0

for epoch in range(num_epochs):
    for i in range(0, len(images), batch_size):
        x = images[i:i + batch_size]
        a = attributes[i:i + batch_size]
        b_size = x.size(0)
        c = netC(a)

        ############################
        # (1) Update D network: maximize log(D(x|c)) + log(1 - D(G(z|c)|c))
        ###########################
        netD.zero_grad()
        label = torch.full((b_size,), real_label)
        output = netD(x, c)
        errD_real = criterion(output, label)

        noise = torch.randn(b_size, nz)
        fake = netG(noise, c)
        label_f = torch.full((b_size,), fake_label)
        output = netD(fake.detach(), c)
        errD_fake = criterion(output, label_f)

        # D should also notice a right picture with somebody else's attributes
        output = netD(x, c.roll(1, 0))
        errD_wrong = criterion(output, label_f)

        errD = errD_real + 0.5 * (errD_fake + errD_wrong)
        errD.backward()
        optD.step()

        ############################
        # (2) Update G network: maximize log(D(G(z|c)|c))
        ###########################
        netG.zero_grad()
        netC.zero_grad()
        c = netC(a)
        fake = netG(noise, c)
        output = netD(fake, c)
        errG = criterion(output, torch.full((b_size,), 1.0))
        errG.backward()
        optG.step()

        if i % 32 == 0:
            print("[%d/%d][%d] Loss_D: %.5f Loss_G: %.5f" % (epoch, num_epochs, i, errD.item(), errG.item()))

with torch.no_grad():
    netG.eval()
    out = netG(torch.zeros(8, nz), netC(attributes[:8]))
    print("spread of the generated faces %.5f" % out.std(0).mean().item())
