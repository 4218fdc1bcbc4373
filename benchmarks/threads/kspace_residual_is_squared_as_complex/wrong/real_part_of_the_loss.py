"""Untrained-network reconstruction of undersampled multi-coil MRI (deep image prior in k-space)."""
import argparse
import numpy as np
import torch
from torch import nn


def phantom(n):
    yy, xx = np.mgrid[-1:1:n * 1j, -1:1:n * 1j]
    img = 0.8 * ((xx / 0.8) ** 2 + (yy / 0.9) ** 2 < 1)
    img = img - 0.5 * (((xx - .2) / 0.25) ** 2 + ((yy + .1) / 0.4) ** 2 < 1)
    img = img + 0.3 * (((xx + .35) / 0.15) ** 2 + (yy / 0.2) ** 2 < 1)
    phase = 0.6 * xx - 0.4 * yy ** 2
    return torch.tensor(img * np.exp(1j * phase), dtype=torch.complex64)


def coil_maps(n, coils):
    yy, xx = np.mgrid[-1:1:n * 1j, -1:1:n * 1j]
    maps = []
    for c in range(coils):
        a = 2 * np.pi * c / coils
        mag = np.exp(-((xx - np.cos(a)) ** 2 + (yy - np.sin(a)) ** 2) / 2)
        maps.append(mag * np.exp(1j * (a + xx * np.cos(a))))
    maps = np.stack(maps)
    return torch.tensor(maps / np.sqrt((abs(maps) ** 2).sum(0)), dtype=torch.complex64)


class SenseOperator:
    """image -> masked k-space of every coil"""

    def __init__(self, maps, mask):
        self.maps, self.mask = maps, mask

    def forward(self, image):
        return self.mask * torch.fft.fft2(self.maps * image, norm="ortho")

    def adjoint(self, kspace):
        return (self.maps.conj() * torch.fft.ifft2(self.mask * kspace, norm="ortho")).sum(0)


class PriorNet(nn.Module):
    """fixed noise -> real and imaginary part"""

    def __init__(self, n, width=12):
        super().__init__()
        self.register_buffer("z", torch.rand(1, 4, n // 2, n // 2))
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.c1 = nn.Conv2d(4, width, 3, padding=1)
        self.c2 = nn.Conv2d(width, width, 3, padding=1)
        self.out = nn.Conv2d(width, 2, 1)

    def forward(self):
        h = torch.relu(self.c1(self.up(self.z)))
        h = torch.relu(self.c2(h))
        h = self.out(h)[0]
        return torch.complex(h[0], h[1])


def data_consistency(pred, measured):
    """mean squared modulus of the k-space residual"""
    residual = pred - measured
    return (residual ** 2).mean().real


def total_variation(image):
    mag = (image.real ** 2 + image.imag ** 2 + 1e-6).sqrt()
    return (mag[1:] - mag[:-1]).abs().mean() + (mag[:, 1:] - mag[:, :-1]).abs().mean()


def undersampling(n, accel, centre, rng):
    mask = rng.rand(n) < 1.0 / accel
    mask[:centre] = True
    mask[-centre:] = True            # low frequencies sit at both ends (no fftshift)
    return torch.tensor(mask[None, None, :].astype(np.float32))


def reconstruct(args):
    rng = np.random.RandomState(args.seed)
    truth = phantom(args.n)
    op = SenseOperator(coil_maps(args.n, args.coils), undersampling(args.n, args.accel, 3, rng))
    noise = torch.tensor(rng.randn(args.coils, args.n, args.n) + 1j * rng.randn(args.coils, args.n, args.n))
    measured = op.forward(truth) + args.sigma * op.mask * noise.to(torch.complex64)

    net = PriorNet(args.n)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    for it in range(args.iters):
        image = net()
        dc = data_consistency(op.forward(image), measured)
        loss = dc + args.tv * total_variation(image)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 5 == 0:
            with torch.no_grad():
                r = op.forward(image) - measured
                nmse = (r.abs() ** 2).sum() / (measured.abs() ** 2).sum()
            print("iter %3d  residual %.6f" % (it, nmse.item()))
    return net().detach(), op.adjoint(measured), truth


def nrmse(x, truth):
    return ((x - truth).abs().pow(2).sum() / truth.abs().pow(2).sum()).sqrt().item()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=24)
    parser.add_argument("--coils", type=int, default=4)
    parser.add_argument("--accel", type=float, default=3)
    parser.add_argument("--sigma", type=float, default=0.01)
    parser.add_argument("--tv", type=float, default=1e-3)
    parser.add_argument("--lr", type=float, default=2e-2)
    parser.add_argument("--iters", type=int, default=21)
    parser.add_argument("--seed", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rec, zero_filled, truth = reconstruct(args)
    print("nrmse: zero filled %.5f, network %.5f" % (nrmse(zero_filled, truth), nrmse(rec, truth)))
