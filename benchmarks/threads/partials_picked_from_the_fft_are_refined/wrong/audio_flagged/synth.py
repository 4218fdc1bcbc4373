import torch
import torch.nn.functional as F


def modal_synth(params, n_samples, sr):
    """Sum of exponentially damped sinusoids."""
    t = torch.arange(n_samples) / sr
    freq = params['freq'].unsqueeze(1)
    env = params['amp'].unsqueeze(1) * torch.exp(-F.softplus(params['decay']).unsqueeze(1) * t)
    return (env * torch.sin(2 * torch.pi * freq * t + params['phase'].unsqueeze(1))).sum(0)


def log_spectrum(y, n_fft):
    s = torch.stft(y, n_fft, n_fft // 4, window=torch.hann_window(n_fft), return_complex=True)
    return torch.log(torch.sqrt(s.real ** 2 + s.imag ** 2 + 1e-6))


def spectral_loss(y, target, sizes=(64, 256)):
    loss = (y - target).pow(2).mean()
    for n in sizes:
        loss = loss + 0.1 * (log_spectrum(y, n) - log_spectrum(target, n)).abs().mean()
    return loss
