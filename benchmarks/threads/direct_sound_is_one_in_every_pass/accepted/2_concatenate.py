"""Differentiable effects chain: harmonic tone -> waveshaper -> learned room response."""
import argparse
import logging
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

logger = logging.getLogger("ddsp")


def fft_convolve(signal, kernel):
    n = signal.shape[-1]
    size = n + kernel.shape[-1]
    out = torch.fft.irfft(torch.fft.rfft(signal, size) * torch.fft.rfft(kernel, size), size)
    return out[..., :n]


class Reverb(nn.Module):
    """Room response with a decaying tail. The first tap is the direct sound."""

    def __init__(self, length, sample_rate, init_decay=4.0):
        super().__init__()
        self.response = nn.Parameter((torch.rand(length) * 2 - 1) * 0.3)
        self.decay = nn.Parameter(torch.tensor(init_decay))
        self.wet = nn.Parameter(torch.tensor(0.0))
        self.register_buffer("t", torch.arange(length) / sample_rate)

    def build_impulse(self):
        impulse = torch.cat([torch.ones(1), self.response[1:]])
        envelope = torch.exp(-F.softplus(self.decay) * self.t * 500)
        wet = torch.ones_like(envelope)
        wet = torch.where(self.t > 0, torch.sigmoid(self.wet) * wet, wet)
        return impulse * envelope * wet

    def forward(self, x):
        return fft_convolve(x, self.build_impulse())


class WaveShaper(nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.drive = nn.Parameter(torch.tensor(1.0))
        self.curve = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, x):
        y = torch.tanh(self.drive * x)
        return y + 0.1 * self.curve(y[..., None])[..., 0]


class Chain(nn.Module):
    def __init__(self, length, sample_rate):
        super().__init__()
        self.shaper = WaveShaper()
        self.reverb = Reverb(length, sample_rate)

    def forward(self, x):
        dry = self.shaper(x)
        return self.reverb(dry), dry


class MultiResolutionLoss(nn.Module):
    def __init__(self, sizes=(64, 128)):
        super().__init__()
        self.sizes = sizes

    def spectrum(self, x, size):
        w = torch.hann_window(size, device=x.device)
        s = torch.stft(x, size, size // 4, window=w, return_complex=True)
        return (s.abs().pow(2) + 1e-7).sqrt()

    def forward(self, pred, ref):
        total = 0.0
        for size in self.sizes:
            p, r = self.spectrum(pred, size), self.spectrum(ref, size)
            total = total + F.l1_loss(p, r) + F.l1_loss(p.log(), r.log())
        return total / len(self.sizes)


def notes(batch, n, rate, g):
    f0 = 110 * 2 ** (torch.randint(0, 24, (batch, 1), generator=g) / 12)
    t = torch.arange(n)[None] / rate
    tone = sum(torch.sin(2 * math.pi * k * f0 * t) / k for k in (1, 2, 3))
    return tone * torch.exp(-6 * t)


def room(length, rate, g):
    h = torch.randn(length, generator=g) * torch.exp(-torch.arange(length) / rate * 1500) * 0.2
    h[0] = 1.0
    return h


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=8)
    ap.add_argument("--rate", type=int, default=8000)
    ap.add_argument("--samples", type=int, default=512)
    ap.add_argument("--taps", type=int, default=32)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()
    torch.manual_seed(8)
    g = torch.Generator().manual_seed(8)
    target_room = room(args.taps, args.rate, g)
    chain = Chain(args.taps, args.rate)
    groups = [
        {"params": chain.shaper.parameters(), "lr": args.lr},
        {"params": chain.reverb.parameters(), "lr": 4 * args.lr},
    ]
    optimizer = torch.optim.Adam(groups)
    criterion = MultiResolutionLoss()
    for step in range(args.steps):
        x = notes(4, args.samples, args.rate, g)
        with torch.no_grad():
            ref = fft_convolve(torch.tanh(1.5 * x), target_room)
        wet, dry = chain(x)
        loss = criterion(wet, ref) + 0.01 * (wet - dry).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logger.info("step %d %.4f", step, loss.item())
        if step % 3 == 0:
            print(f"step {step} loss {loss.item():.5f}")
    with torch.no_grad():
        h = chain.reverb.build_impulse()
    print(f"direct {h[0].item():.5f} tail {h[1:].norm().item():.5f} decay {chain.reverb.decay.item():.5f}")


if __name__ == "__main__":
    main()
