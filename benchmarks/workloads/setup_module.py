"""Loads for long at module level, then fails in the second pass of its loop. `setup_module.py ROUNDS`."""

import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm

torch.manual_seed(0)
rng = np.random.default_rng(0)
rows = []
for _ in tqdm(range(int(sys.argv[1])), desc="features"):
    raw = rng.normal(size=(400, 64))
    spectrum = np.abs(np.fft.rfft(raw, axis=0)) + np.sort(raw, axis=1)[:201, :33].sum()
    basis, _, _ = np.linalg.svd(raw.T @ raw)
    rows.append(torch.from_numpy(spectrum @ basis).float().mean(dim=0))
data = torch.stack(rows)
data = (data - data.mean()) / data.std()
projection = nn.Linear(64, 256)
with torch.no_grad():
    for block in data.repeat(8, 1).split(8):
        features = torch.relu(projection(block))
targets = torch.relu(projection(data)).mean(dim=1).detach()

loader = DataLoader(TensorDataset(data, targets), batch_size=16, shuffle=True, drop_last=True)
rnn = nn.GRUCell(64, 32)
head = nn.Linear(32, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=1e-3)
state = torch.zeros(16, 32)
for epoch in range(2):
    for x, y in tqdm(loader, desc=f"epoch {epoch}"):
        state = rnn(x, state)
        loss = (head(state)[:, 0] - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
