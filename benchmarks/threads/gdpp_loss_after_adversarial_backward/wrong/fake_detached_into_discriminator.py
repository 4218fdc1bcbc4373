"""Progressive-ish GAN + GDPP (diversity) -- stripped version of my trainer, CPU."""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class GNet(nn.Module):
    def __init__(self, dimLatent, dimOut):
        super(GNet, self).__init__()
        self.model = nn.Sequential(nn.Linear(dimLatent, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, dimOut))

    def forward(self, z):
        return self.model(z)


class DNet(nn.Module):
    def __init__(self, dimIn):
        super(DNet, self).__init__()
        self.body = nn.Sequential(nn.Linear(dimIn, 32), nn.LeakyReLU(0.2), nn.Linear(32, 24), nn.Tanh())
        self.decisionLayer = nn.Linear(24, 1)

    def forward(self, x, getFeature=False):
        phi = self.body(x)
        out = self.decisionLayer(phi)
        if not getFeature:
            return out
        return out, phi


def GDPPLoss(phiReal, phiFake):
    r"""Elfeki et al. -- match magnitude and structure of the two kernels."""

    def computeEig(phi):
        phi = F.normalize(phi, p=2, dim=1)
        S = torch.matmul(phi, phi.t())
        return torch.linalg.eigh(S)

    realVal, realVec = computeEig(phiReal)
    fakeVal, fakeVec = computeEig(phiFake)
    magnitude = F.mse_loss(realVal, fakeVal)
    cos = F.cosine_similarity(fakeVec, realVec, dim=0).abs()
    weights = realVal.detach() / realVal.detach().sum()
    structure = -(weights * cos)[-3:].sum()          # only the leading ones, the tail is noise
    return magnitude + structure


class BaseGAN(object):
    def __init__(self, config):
        self.config = config
        self.netG = GNet(config.dimLatent, config.dimOut)
        self.netD = DNet(config.dimOut)
        self.optimizerD = torch.optim.Adam(self.netD.parameters(), betas=(0., 0.99), lr=config.lr)
        self.optimizerG = torch.optim.Adam(self.netG.parameters(), betas=(0., 0.99), lr=config.lr)

    def buildNoise(self, n):
        return torch.randn(n, self.config.dimLatent)

    def optimizeD(self, real):
        self.optimizerD.zero_grad()
        with torch.no_grad():
            fake = self.netG(self.buildNoise(real.size(0)))
        lossD = F.softplus(-self.netD(real)).mean() + F.softplus(self.netD(fake)).mean()
        lossD.backward()
        self.optimizerD.step()
        return lossD.item()

    def optimizeG(self, real):
        allLosses = {}
        self.optimizerG.zero_grad()
        self.optimizerD.zero_grad()

        # Step 1: adversarial part
        inputFake = self.netG(self.buildNoise(real.size(0)))
        predFakeG, phiGFake = self.netD(inputFake, True)
        lossGFake = F.softplus(-predFakeG).mean()
        allLosses["lossG_fake"] = lossGFake.item()
        lossGFake.backward()

        # Step 2: GDPP
        if self.config.GDPP:
            _, phiDReal = self.netD(real, True)
            _, phiGFake = self.netD(inputFake.detach(), True)
            lossGDPP = self.config.wGDPP * GDPPLoss(phiDReal.detach(), phiGFake)
            allLosses["lossG_GDPP"] = lossGDPP.item()
            lossGDPP.backward()

        self.optimizerG.step()
        return allLosses

    def optimizeParameters(self, real):
        losses = {"lossD": self.optimizeD(real)}
        losses.update(self.optimizeG(real))
        return losses


def ringOfModes(n, dim, gen):
    centers = torch.randn(6, dim, generator=torch.Generator().manual_seed(0)) * 2
    idx = torch.randint(0, 6, (n,), generator=gen)
    return centers[idx] + 0.1 * torch.randn(n, dim, generator=gen)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--dimLatent", type=int, default=8)
    parser.add_argument("--dimOut", type=int, default=6)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--wGDPP", type=float, default=1.0)
    parser.add_argument("--GDPP", type=int, default=1)
    parser.add_argument("--maxIter", type=int, default=6)
    parser.add_argument("--miniBatchSize", type=int, default=8)
    config = parser.parse_args()
    torch.manual_seed(17)
    gan = BaseGAN(config)
    gen = torch.Generator().manual_seed(5)
    for it in range(config.maxIter):
        losses = gan.optimizeParameters(ringOfModes(config.miniBatchSize, config.dimOut, gen))
        print("[%d] " % it + "  ".join("%s %.5f" % (k, v) for k, v in losses.items()))
