"""Loads for long in its main function, then fails in the second pass of its loop. `setup_main.py ROUNDS`."""

import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm


class Windows(Dataset):
    def __init__(self, rounds):
        rng = np.random.default_rng(1)
        self.items = []
        for _ in tqdm(range(rounds), desc="windows"):
            raw = rng.normal(size=(400, 64))
            power = np.abs(np.fft.rfft(raw, axis=0)) ** 2
            left, _, _ = np.linalg.svd(raw.T @ raw)
            self.items.append((power @ left)[:16])

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        window = torch.from_numpy(self.items[index]).float()
        return window / window.norm(), window.norm().log()


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.LSTM(64, width, batch_first=True)
        self.head = nn.Linear(width, 1)
        self.hidden = None

    def forward(self, x):
        out, self.hidden = self.encoder(x, self.hidden)
        return self.head(out[:, -1])[:, 0]


def calibrate(model, rounds):
    with torch.no_grad():
        x = torch.randn(64, 16, 64)
        for _ in range(rounds):
            out, _ = model.encoder(x)
    return out.mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", type=int)
    parser.add_argument("--width", type=int, default=48)
    args = parser.parse_args()
    torch.manual_seed(1)
    data = Windows(args.rounds)
    model = Model(args.width)
    print(f"calibrated {calibrate(model, args.rounds // 4):.3f}")
    loader = DataLoader(data, batch_size=8, shuffle=True, drop_last=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(2):
        for x, y in tqdm(loader, desc=f"epoch {epoch}"):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
