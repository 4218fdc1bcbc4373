import torch
from torch import nn


class SlicedAnalysis(nn.Module):
    """Half-overlapping windowed slices, each with its own real FFT. No learned part."""

    def __init__(self, size):
        super().__init__()
        self.size, self.hop = size, size // 2
        self.register_buffer("window", torch.hann_window(size).sqrt())

    @torch.no_grad()
    def forward(self, x):
        x = torch.nn.functional.pad(x, (self.hop, self.hop))
        return torch.fft.rfft(x.unfold(-1, self.size, self.hop) * self.window)


class SlicedSynthesis(nn.Module):
    """Inverse of SlicedAnalysis by overlap-add. No learned part."""

    def __init__(self, size):
        super().__init__()
        self.size, self.hop = size, size // 2
        self.register_buffer("window", torch.hann_window(size).sqrt())

    @torch.no_grad()
    def forward(self, coeffs, length):
        frames = torch.fft.irfft(coeffs, n=self.size) * self.window
        n = frames.shape[1]
        out = torch.nn.functional.fold(
            frames.transpose(1, 2), (1, (n - 1) * self.hop + self.size), (1, self.size), stride=(1, self.hop)
        ).flatten(1)
        return out[:, self.hop:self.hop + length]
