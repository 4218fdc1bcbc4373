#!/usr/bin/env python3
"""Separacion de un piano sintetico en notas con NMF y activaciones amortizadas.

V (espectrograma de magnitud) ~ W H, donde W son las plantillas de las notas (se aprenden) y H
sale de una red pequenya que mira la trama. Divergencia KL + esparsidad en H.
"""
import argparse
import time

import numpy as np
import torch
import torch.nn as nn

EPS = 1e-6


def synth(n_notes, seconds, sr, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * sr)) / sr
    audio = np.zeros_like(t)
    f0 = 196.0 * 2 ** (np.array([0, 3, 7, 10, 12])[:n_notes] / 12)
    for start in np.arange(0, seconds - 0.2, 0.12):
        f = f0[rng.integers(n_notes)]
        env = np.where(t >= start, np.exp(-6 * np.clip(t - start, 0, None)), 0.0)
        for h in range(1, 6):
            audio += env * np.sin(2 * np.pi * f * h * t + rng.uniform(0, 6.28)) / h ** 1.5
    return torch.tensor(audio / np.abs(audio).max(), dtype=torch.float32)


def spectrogram(audio, n_fft=256, hop=128):
    window = torch.hann_window(n_fft)
    return torch.stft(audio, n_fft, hop, window=window, return_complex=True).abs()


class NoteModel(nn.Module):
    def __init__(self, n_bins, n_notes, hidden=32):
        super().__init__()
        self.templates = nn.Parameter(torch.rand(n_bins, n_notes) * 0.2 + 0.05)
        self.activations = nn.Sequential(
            nn.Linear(n_bins, hidden), nn.ELU(),
            nn.Linear(hidden, n_notes), nn.Softplus(),
        )

    def forward(self, frames):
        H = self.activations(torch.log1p(10 * frames))
        return H @ self.templates.t(), H

    def restrict(self):
        """las plantillas son magnitudes: nunca negativas"""
        self.templates.detach().clamp_(min=EPS)


def kl_divergence(V, R):
    V, R = V + EPS, R.clamp(min=EPS)
    return (V * (V / R).log() - V + R).mean()


def batches(frames, size, generator):
    order = torch.randperm(len(frames), generator=generator)
    for i in range(0, len(frames), size):
        yield frames[order[i:i + size]]


def train(args):
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    frames = spectrogram(synth(args.notes, args.seconds, 4000, args.seed)).t().contiguous()
    frames = frames / frames.max()

    model = NoteModel(frames.shape[1], args.notes)
    optimizer = torch.optim.Adam([
        {"params": [model.templates], "lr": args.lr_templates},
        {"params": model.activations.parameters(), "lr": args.lr},
    ])
    began = time.time()
    for epoch in range(args.epochs):
        running = n = 0
        for V in batches(frames, args.batch, gen):
            R, H = model(V)
            loss = kl_divergence(V, R) + args.sparsity * H.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model.restrict()
            running += loss.item() * len(V)
            n += len(V)
        with torch.no_grad():
            R, H = model(frames)
            snr = 10 * torch.log10(frames.pow(2).sum() / (frames - R).pow(2).sum())
            at_floor = (model.templates <= EPS * 1.01).float().mean()
        print(f"epoca {epoch}: perdida {running / n:.6f}  SNR {snr.item():.4f} dB  "
              f"suelo {at_floor.item():.4f}  |W| {model.templates.norm().item():.5f}")
    if args.verbose:
        print("segundos", time.time() - began)
    return model


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--notes", type=int, default=4)
    ap.add_argument("--seconds", type=float, default=1.5)
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--lr-templates", type=float, default=2e-2)
    ap.add_argument("--sparsity", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=31)
    ap.add_argument("-v", "--verbose", action="store_true")
    model = train(ap.parse_args())
    peaks = model.templates.detach().argmax(0).tolist()
    print("picos", sorted(peaks))
