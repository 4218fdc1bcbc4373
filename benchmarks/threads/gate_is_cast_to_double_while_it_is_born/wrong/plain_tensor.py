import math
from dataclasses import dataclass, field
from typing import List

import torch
import torch.nn as nn


@dataclass
class Settings:
    features: int = 10
    hidden: List[int] = field(default_factory=lambda: [24, 24])
    dtype: torch.dtype = torch.float64
    device: str = "cpu"
    lr: float = 2e-3
    gate_lr: float = 2e-2
    l1: float = 1e-2
    epochs: int = 5
    batch: int = 25


class GatedRegressor(nn.Module):
    """MLP energy model whose descriptors are switched on and off by a learned gate."""

    def __init__(self, cfg: Settings):
        super().__init__()
        sizes = [cfg.features, *cfg.hidden, 1]
        layers: List[nn.Module] = []
        for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
            layers.append(nn.Linear(a, b, dtype=cfg.dtype, device=cfg.device))
            if i < len(sizes) - 2:
                layers.append(nn.Tanh())
        self.body = nn.Sequential(*layers)
        self.gate = torch.ones(cfg.features).to(cfg.device, cfg.dtype)

    def forward(self, descriptors: torch.Tensor) -> torch.Tensor:
        return self.body(descriptors * self.gate).squeeze(-1)

    def sparsity(self) -> torch.Tensor:
        return self.gate.abs().sum()


def descriptors_and_energies(n: int, cfg: Settings):
    """Only the first three descriptors matter."""
    x = torch.randn(n, cfg.features, dtype=cfg.dtype)
    e = x[:, 0] * torch.cos(x[:, 1]) + 0.5 * x[:, 2] ** 2 - 0.5
    return x.to(cfg.device), e.to(cfg.device)


def cosine(step: int, total: int) -> float:
    return 0.5 * (1.0 + math.cos(math.pi * step / total))


def run(cfg: Settings) -> None:
    torch.manual_seed(17)
    x, energy = descriptors_and_energies(150, cfg)
    model = GatedRegressor(cfg)
    optimizer = torch.optim.Adam(
        [
            {"params": model.body.parameters(), "lr": cfg.lr},
            {"params": [model.gate], "lr": cfg.gate_lr},
        ]
    )
    total = cfg.epochs * (len(x) // cfg.batch)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: cosine(s, total))

    for epoch in range(1, cfg.epochs + 1):
        mse_sum = 0.0
        for idx in torch.randperm(len(x)).split(cfg.batch):
            mse = (model(x[idx]) - energy[idx]).pow(2).mean()
            loss = mse + cfg.l1 * model.sparsity()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            mse_sum += mse.item() * len(idx)
        with torch.no_grad():
            useful, useless = model.gate[:3].mean().item(), model.gate[3:].mean().item()
        print(f"{epoch:2d}  mse {mse_sum / len(x):.6f}  gate useful {useful:.6f}  useless {useless:.6f}")


if __name__ == "__main__":
    run(Settings())
