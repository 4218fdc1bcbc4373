"""A small DCGAN on synthetic images."""

import argparse

import torch
import torch.nn as nn


class Writer:
    """Stands where TensorBoard's SummaryWriter would."""

    def add_scalar(self, name, value, step):
        print(f"{name} {step} {value:.4f}")


class Generator(nn.Module):
    def __init__(self, nz=16, ngf=8):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self, ndf=8):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, 1, 4, 1, 0, bias=False),
        )

    def forward(self, x):
        return self.main(x).view(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    netG, netD = Generator().to(device), Discriminator().to(device)
    criterion = nn.BCEWithLogitsLoss()
    optG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
    optD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
    data = torch.utils.data.DataLoader(torch.randn(32, 1, 16, 16), batch_size=8)
    writer = Writer()
    step = 0
    for epoch in range(args.epochs):
        for real in data:
            real = real.to(device)
            label = torch.ones(real.size(0), device=device)
            optD.zero_grad()
            errD_real = criterion(netD(real), label)
            noise = torch.randn(real.size(0), 16, 1, 1, device=device)
            fake = netG(noise)
            errD_fake = criterion(netD(fake), 1 - label)
            errD = errD_real + errD_fake
            errD.backward()
            optD.step()
            optG.zero_grad()
            errG = criterion(netD(fake), label)
            errG.backward()
            optG.step()
            writer.add_scalar("loss/D", errD.item(), step)
            writer.add_scalar("loss/G", errG.item(), step)
            step += 1


if __name__ == "__main__":
    main()
