"""Denoising of short audio frames with a loss on the spectrum."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class NoisyTones(Dataset):
    def __init__(self, n, length, noise, seed):
        rng = np.random.RandomState(seed)
        t = np.arange(length) / length
        freq = rng.randint(1, 6, size=(n, 2, 1))
        phase = rng.uniform(0, 2 * np.pi, size=(n, 2, 1))
        clean = np.sin(2 * np.pi * freq * t + phase).mean(axis=1)
        self.clean = clean.astype(np.float32)
        self.noisy = (clean + noise * rng.randn(n, length)).astype(np.float32)

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        return self.noisy[i], self.clean[i]


class Denoiser(nn.Module):
    def __init__(self, length, hidden):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(length, hidden), nn.Tanh())
        self.decoder = nn.Linear(hidden, length)

    def forward(self, x):
        return self.decoder(self.encoder(x))


class SpectralLoss(nn.Module):
    """Mean squared difference of the magnitudes and, with less weight, of the log magnitudes."""

    def __init__(self, log_weight=0.1):
        super().__init__()
        self.log_weight = log_weight

    def forward(self, output, target):
        spec_out = torch.abs(torch.fft.rfft(output, dim=-1))
        spec_target = torch.from_numpy(np.abs(np.fft.rfft(target.numpy(), axis=-1)).astype(np.float32))
        linear = torch.mean((spec_out - spec_target) ** 2)
        log = torch.mean((torch.log(spec_out + 1e-2) - torch.log(spec_target + 1e-2)) ** 2)
        return linear + self.log_weight * log


def train(args):
    torch.manual_seed(args.seed)
    loader = DataLoader(NoisyTones(48, args.length, 0.3, args.seed), batch_size=12, shuffle=True)
    model = Denoiser(args.length, args.hidden)
    criterion = SpectralLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        losses = []
        for noisy, clean in loader:
            optimizer.zero_grad()
            output = model(noisy)
            loss = criterion(output, clean)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print("epoch {} loss {:.4f}".format(epoch, np.mean(losses)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--length", type=int, default=24)
    parser.add_argument("--hidden", type=int, default=12)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args())
