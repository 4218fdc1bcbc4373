import torch
from torch import nn, optim

torch.manual_seed(584)

nz, nd, batch = 4, 8, 16
real_label, fake_label = 1., 0.

netG = nn.Sequential(nn.Linear(nz, 16), nn.BatchNorm1d(16), nn.ReLU(True), nn.Linear(16, nd), nn.Tanh())
netD = nn.Sequential(nn.Linear(nd, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 1), nn.Sigmoid())
criterion = nn.BCELoss()

optimizerD = optim.Adam(netD.parameters(), lr=0.002, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=0.002, betas=(0.5, 0.999))
mixing = torch.randn(nd, nd) / 3

for i in range(7):
    # (1) Update D network: maximize log(D(x)) + log(1 - D(G(z)))
    netD.zero_grad()
    real = torch.tanh(torch.randn(batch, nd) @ mixing)
    label = torch.full((batch,), real_label)
    output = netD(real).view(-1)
    errD_real = criterion(output, label)
    errD_real.backward()

    noise = torch.randn(batch, nz)
    fake = netG(noise)
    label.fill_(fake_label)
    output = netD(fake).view(-1)
    errD_fake = criterion(output, label)
    errD_fake.backward(retain_graph=True)
    D_G_z1 = output.mean().item()

    # (2) Update G network: maximize log(D(G(z)))
    netG.zero_grad()
    errG = criterion(output, torch.full((batch,), real_label))
    errG.backward()
    optimizerD.step()
    optimizerG.step()

print("D(G(z)) %.6f  G %.6f" % (D_G_z1, netG[0].weight.abs().sum().item()))
