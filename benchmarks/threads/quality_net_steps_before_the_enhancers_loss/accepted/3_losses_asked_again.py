# MetricGAN-like speech enhancement on synthetic spectra.
# D learns to predict a quality score (here: a fake "PESQ"), G learns a mask that makes D say 1.
import argparse
import torch, torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument('--lr_g', default=1e-3, type=float)
parser.add_argument('--lr_d', default=2e-3, type=float)
parser.add_argument('--epochs', default=2, type=int)
parser.add_argument('--batch', default=4, type=int)
parser.add_argument('--w_metric', default=1.0, type=float)
parser.add_argument('--w_mag', default=0.3, type=float)
opt = parser.parse_args()
torch.manual_seed(2021)

N_BIN, N_FRAME = 17, 12


class Enhancer(nn.Module):
    def __init__(self, hid=20):
        super().__init__()
        self.gru = nn.GRU(N_BIN, hid, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hid, N_BIN)
        self.alpha = nn.Parameter(torch.ones(N_BIN))

    def forward(self, mag):
        h, _ = self.gru(torch.log1p(mag))
        mask = torch.sigmoid(self.alpha * self.fc(h)) * 1.2
        return mask.clamp(min=0.05) * mag


class QualityNet(nn.Module):
    """(degraded, clean) -> predicted score in 0..1"""
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(2, 6, 5), nn.LeakyReLU(0.3),
            nn.Conv2d(6, 8, 3, stride=2), nn.LeakyReLU(0.3))
        self.fc1 = nn.Linear(8, 10)
        self.fc2 = nn.Linear(10, 1)

    def forward(self, x, ref):
        h = self.conv(torch.stack([x, ref], 1)).mean(dim=(2, 3))
        return torch.sigmoid(self.fc2(F.leaky_relu(self.fc1(h), 0.3))).squeeze(1)


def fake_pesq(x, ref):
    """not differentiable in real life, a C program"""
    with torch.no_grad():
        snr = 10 * torch.log10(ref.pow(2).sum((1, 2)) / (x - ref).pow(2).sum((1, 2)).clamp(min=1e-6))
        return torch.sigmoid(snr.clamp(-5, 20) / 5 - 1)


def make_batches(n):
    g = torch.Generator().manual_seed(1)
    f = torch.arange(N_BIN).float()
    out = []
    for _ in range(n):
        pitch = torch.rand(opt.batch, 1, 1, generator=g) * 4 + 2
        env = torch.rand(opt.batch, N_FRAME, 1, generator=g)
        clean = env * (1 + torch.cos(f * 6.28 / pitch)).expand(-1, N_FRAME, -1)
        noise = torch.rand(clean.shape, generator=g) * 0.8
        out.append((clean + noise, clean))
    return out


class Trainer:
    def __init__(self):
        self.G = Enhancer()
        self.D = QualityNet()
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=opt.lr_g)
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=opt.lr_d)

    def losses(self, noisy, clean):
        enhanced = self.G(noisy)
        # ---- D: be right about clean, noisy and enhanced speech
        score = self.D(enhanced.detach(), clean)
        d_loss = F.mse_loss(score, fake_pesq(enhanced, clean)) \
            + F.mse_loss(self.D(noisy, clean), fake_pesq(noisy, clean)) \
            + F.mse_loss(self.D(clean, clean), torch.ones(len(clean)))
        # ---- G: make D believe it is perfect
        wish = self.D(enhanced, clean)
        g_loss = opt.w_metric * F.mse_loss(wish, torch.ones(len(clean))) \
            + opt.w_mag * F.l1_loss(enhanced, clean)
        return d_loss, g_loss

    def step(self, noisy, clean):
        d_loss, g_loss = self.losses(noisy, clean)

        self.opt_d.zero_grad()
        d_loss.backward()
        self.opt_d.step()

        _, g_loss = self.losses(noisy, clean)

        self.opt_g.zero_grad()
        g_loss.backward()
        self.opt_g.step()
        return d_loss.item(), g_loss.item()

    def run(self, batches):
        for ep in range(opt.epochs):
            d_sum = g_sum = 0.
            for noisy, clean in batches:
                d, g = self.step(noisy, clean)
                d_sum += d; g_sum += g
            print('[epoch %d] D %.5f  G %.5f' % (ep, d_sum / len(batches), g_sum / len(batches)))


if __name__ == '__main__':
    t = Trainer()
    batches = make_batches(5)
    t.run(batches)
    noisy, clean = batches[0]
    print('score before %.4f after %.4f' % (fake_pesq(noisy, clean).mean(), fake_pesq(t.G(noisy), clean).mean()))
