"""Vocoder-free TTS head: predicts a linear spectrogram from mel frames, and is trained through a few
rounds of (fast) Griffin-Lim on the waveform."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class STFT:
    def __init__(self, n_fft, hop):
        self.n_fft, self.hop = n_fft, hop
        self.window = torch.hann_window(n_fft)

    def __call__(self, wav):
        return torch.stft(wav, self.n_fft, self.hop, window=self.window, return_complex=True)

    def inverse(self, spec, length):
        return torch.istft(spec, self.n_fft, self.hop, window=self.window, length=length)


def griffin_lim(magnitude, stft, n_iter, momentum, length):
    """Perraudin et al. 2013, momentum as in librosa: the last rebuilt spectrogram is subtracted from the new one"""
    assert 0 <= momentum < 1
    angles = torch.ones_like(magnitude).to(torch.complex64)
    tprev = torch.zeros_like(angles)
    for _ in range(n_iter):
        # invert with our current estimate of the phases, then rebuild the spectrogram
        inverse = stft.inverse(magnitude * angles, length)
        rebuilt = stft(inverse)

        # update our phase estimates
        angles = rebuilt
        if momentum:
            angles -= tprev * (momentum / (1 + momentum))
        angles /= angles.abs() + 1e-7

        # store the previous iterate
        tprev = rebuilt
    return stft.inverse(magnitude * angles, length)


class MelToLinear(nn.Module):
    def __init__(self, n_mels, n_bins, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(n_mels, hidden, 3, padding=1), nn.ReLU(), nn.Conv1d(hidden, n_bins, 1))

    def forward(self, mel):
        return F.softplus(self.net(mel))


def make_batch(stft, mel_basis, length, size=3):
    t = torch.arange(length) / length
    f0 = 5 + 8 * torch.rand(size, 1)
    wav = torch.sin(2 * torch.pi * f0 * t) + 0.3 * torch.sin(4 * torch.pi * f0 * t + 1) + 0.02 * torch.randn(size, length)
    mag = stft(wav).abs()
    return wav, mag, (mel_basis @ mag).clamp(min=1e-4).log()


def train(args):
    torch.manual_seed(args.seed)
    stft = STFT(args.n_fft, args.hop)
    n_bins = args.n_fft // 2 + 1
    mel_basis = torch.rand(args.n_mels, n_bins)
    model = MelToLinear(args.n_mels, n_bins)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for step in range(args.steps):
        wav, mag, mel = make_batch(stft, mel_basis, args.length)
        pred = model(mel)
        out = griffin_lim(pred, stft, args.gl_iters, args.momentum, args.length)
        loss_mag = F.l1_loss(pred, mag)
        loss_wav = F.mse_loss(stft(out).abs().add(1e-3).log(), mag.add(1e-3).log())
        loss = loss_mag + args.lambda_wav * loss_wav
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.grad_clip)
        optimizer.step()
        print(f"step {step} mag {loss_mag.item():.5f} wav {loss_wav.item():.5f}")
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--n-fft", type=int, default=32)
    p.add_argument("--hop", type=int, default=8)
    p.add_argument("--n-mels", type=int, default=10)
    p.add_argument("--length", type=int, default=160)
    p.add_argument("--gl-iters", type=int, default=3)
    p.add_argument("--momentum", type=float, default=0.9)
    p.add_argument("--lambda-wav", type=float, default=0.5)
    p.add_argument("--grad-clip", type=float, default=5.0)
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--steps", type=int, default=6)
    p.add_argument("--seed", type=int, default=22050)
    p.add_argument("--save", default="")
    train(p.parse_args())
