import torch
import torch.nn as nn


class SpectralResidual1d(nn.Module):
    """Fourier layer that mixes channels in the lowest ``modes`` frequencies.

    Unlike the layer of Li et al. the higher frequencies are not cut off: they pass through unchanged, so that
    shocks keep their sharp edges over many layers.
    """

    def __init__(self, channels, modes):
        super().__init__()
        self.modes = modes
        scale = 1 / channels
        self.weights = nn.Parameter(scale * torch.rand(channels, channels, modes, dtype=torch.cfloat))

    @staticmethod
    def compl_mul1d(x, weights):
        # (batch, in, modes), (in, out, modes) -> (batch, out, modes)
        return torch.einsum("bix,iox->box", x, weights)

    def forward(self, x):
        x_ft = torch.fft.rfft(x)
        x_ft.data[:, :, :self.modes] = self.compl_mul1d(x_ft[:, :, :self.modes], self.weights)
        return torch.fft.irfft(x_ft, n=x.size(-1))
