"""Denoising autoencoder with a structural similarity loss."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    size: int = 12
    n_images: int = 24
    batch: int = 8
    epochs: int = 3
    lr: float = 4e-3
    noise: float = 0.15
    ssim_weight: float = 0.8
    seed: int = 21


class SSIMLoss(nn.Module):
    """1 - SSIM, averaged over all windows. See Wang et al., 2004, eq. 13."""

    def __init__(self, window=5, data_range=1.0):
        super().__init__()
        self.window = window
        self.C1 = (0.01 * data_range) ** 2
        self.C2 = (0.03 * data_range) ** 2

    def blur(self, img):
        return F.avg_pool2d(img, self.window, stride=1)

    def forward(self, x, y):
        mu_x = self.blur(x)
        mu_y = self.blur(y)

        # (co)variances: E[ab] - E[a]E[b]
        sigma_xy = self.blur(x * y) - mu_x * mu_y
        sigma_x = self.blur(x * x) - mu_x.data.pow_(2)
        sigma_y = self.blur(y * y) - mu_y.data.pow_(2)

        luminance = (2 * mu_x * mu_y + self.C1) / (mu_x ** 2 + mu_y ** 2 + self.C1)
        contrast_structure = (2 * sigma_xy + self.C2) / (sigma_x + sigma_y + self.C2)
        return 1 - (luminance * contrast_structure).mean()


class DenoisingAE(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, ch, 3, padding=1), nn.ReLU(),
            nn.Conv2d(ch, ch, 3, stride=2, padding=1), nn.ReLU(),
        )
        self.decoder = nn.Sequential(
            nn.Upsample(scale_factor=2), nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU(),
            nn.Conv2d(ch, 1, 3, padding=1), nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def toy_images(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    ramp = torch.linspace(0, 3.14159, cfg.size)
    phase = torch.rand(cfg.n_images, 1, 1, 1, generator=g) * 3
    freq = 1 + 2 * torch.rand(cfg.n_images, 1, 1, 1, generator=g)
    return 0.5 + 0.4 * torch.sin(freq * ramp.view(1, 1, 1, -1) + phase) * torch.cos(freq * ramp.view(1, 1, -1, 1))


def psnr(x, y):
    return -10 * torch.log10(F.mse_loss(x, y))


def fit(cfg):
    torch.manual_seed(cfg.seed)
    clean = toy_images(cfg)
    noisy = (clean + cfg.noise * torch.randn_like(clean)).clamp(0, 1)
    model = DenoisingAE()
    ssim_loss = SSIMLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)

    for epoch in range(cfg.epochs):
        for inp, target in zip(noisy.split(cfg.batch), clean.split(cfg.batch)):
            out = model(inp)
            loss = cfg.ssim_weight * ssim_loss(out, target) + (1 - cfg.ssim_weight) * F.l1_loss(out, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            print(f"epoch {epoch} loss {loss.item():.6f} psnr {psnr(model(noisy), clean).item():.5f}")
    return model


if __name__ == "__main__":
    fit(Config())
