import torch
import torch.nn as nn
import torch.nn.functional as F


class STFTLoss(nn.Module):
    def __init__(self, fft_size, floor):
        super().__init__()
        self.fft_size = fft_size
        self.hop = fft_size // 4
        self.floor = floor
        self.register_buffer('window', torch.hann_window(fft_size))

    def magnitude(self, x):
        spec = torch.stft(x, self.fft_size, self.hop, window=self.window, return_complex=True)
        power = spec.real ** 2 + spec.imag ** 2 + 1e-12
        mag = torch.sqrt(power)
        with torch.no_grad():
            mag.clamp_(min=self.floor)
        return mag

    def forward(self, est, ref):
        est_mag, ref_mag = self.magnitude(est), self.magnitude(ref)
        sc = torch.norm(ref_mag - est_mag, p='fro') / torch.norm(ref_mag, p='fro')
        log_mag = F.l1_loss(torch.log(est_mag), torch.log(ref_mag))
        return sc + log_mag


class EnhancementLoss(nn.Module):
    """L1 in time plus STFT losses of several resolutions."""

    def __init__(self, fft_sizes, mag_weight, floor):
        super().__init__()
        self.stft_losses = nn.ModuleList([STFTLoss(n, floor) for n in fft_sizes])
        self.mag_weight = mag_weight

    def forward(self, est, ref):
        time_loss = F.l1_loss(est, ref)
        stft_loss = sum(l(est, ref) for l in self.stft_losses) / len(self.stft_losses)
        return time_loss + self.mag_weight * stft_loss, time_loss, stft_loss
