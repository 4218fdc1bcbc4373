# DDSP: learn a cascade of two-pole filters that imitates a recorded effect
import torch, torch.nn as nn, math
import numpy as np
from dataclasses import dataclass, field

@dataclass
class Hparams:
    sr: int = 8000
    length: int = 40
    batch: int = 3
    stages: int = 2
    lr: float = 0.05
    steps: int = 5
    seed: int = 180
    fft: list = field(default_factory=lambda: [16, 32])

class Biquad(nn.Module):
    """y[n] = b0 x[n] + b1 x[n-1] + b2 x[n-2] - a1 y[n-1] - a2 y[n-2]"""
    def __init__(self, radius=0.5, angle=0.8):
        super().__init__()
        self.b = nn.Parameter(torch.tensor([1.0, 0.1, 0.05]))
        self.radius = nn.Parameter(torch.tensor(math.atanh(radius)))
        self.angle = nn.Parameter(torch.tensor(angle))

    def coefficients(self):
        r = torch.tanh(self.radius)          # poles stay inside the unit circle
        return -2 * r * torch.cos(self.angle), r * r

    def forward(self, x):
        a1, a2 = (c.item() for c in self.coefficients())
        b0, b1, b2 = self.b
        ys = torch.zeros(x.shape[0], x.shape[1] + 2)   # two samples of silence in front
        xs = nn.functional.pad(x, (2, 0))
        for n in range(2, xs.shape[1]):
            ys[:, n] = b0 * xs[:, n] + b1 * xs[:, n - 1] + b2 * xs[:, n - 2] - a1 * ys[:, n - 1] - a2 * ys[:, n - 2]
        return ys[:, 2:]

class Effect(nn.Module):
    def __init__(self, stages):
        super().__init__()
        self.stages = nn.ModuleList(Biquad(0.3 + 0.2 * i, 0.5 + 0.6 * i) for i in range(stages))
        self.drive = nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        x = torch.tanh(self.drive * x)
        for s in self.stages:
            x = s(x)
        return x

class MultiScaleSpectralLoss(nn.Module):
    def __init__(self, ffts):
        super().__init__()
        self.ffts = ffts

    def mag(self, x, n):
        return torch.stft(x, n, n // 4, window=torch.hann_window(n), return_complex=True).abs()

    def forward(self, a, b):
        total = 0
        for n in self.ffts:
            A, B = self.mag(a, n), self.mag(b, n)
            total = total + (A - B).abs().mean() + 0.1 * (torch.log(A + 1e-3) - torch.log(B + 1e-3)).abs().mean()
        return total

def recorded(x):
    y = np.zeros_like(x)
    for n in range(x.shape[1]):
        y[:, n] = 0.8 * np.tanh(1.5 * x[:, n]) + (1.1 * y[:, n - 1] if n > 0 else 0) - (0.5 * y[:, n - 2] if n > 1 else 0)
    return y

def main(hp=Hparams()):
    torch.manual_seed(hp.seed); rng = np.random.RandomState(hp.seed)
    fx, criterion = Effect(hp.stages), MultiScaleSpectralLoss(hp.fft)
    opt = torch.optim.Adam(fx.parameters(), lr=hp.lr)
    for step in range(hp.steps):
        dry = rng.randn(hp.batch, hp.length).astype(np.float32)
        wet = torch.from_numpy(recorded(dry).astype(np.float32))
        out = fx(torch.from_numpy(dry))
        loss = criterion(out, wet) + (out - wet).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        print(f"step {step}: {loss.item():.6f} pole {torch.tanh(fx.stages[0].radius).item():.6f} drive {fx.drive.item():.6f}")

if __name__ == '__main__':
    main()
