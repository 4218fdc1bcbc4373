from dataclasses import dataclass, field
from typing import Dict, List

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    tasks: List[str] = field(default_factory=lambda: ["seg", "depth", "normal"])
    temperature: float = 2.0
    lr: float = 1e-2
    epochs: int = 6
    batches: int = 2
    seed: int = 5


class MultiTaskNet(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 20), nn.ReLU())
        sizes = {"seg": 4, "depth": 1, "normal": 3}
        self.heads = nn.ModuleDict({t: nn.Linear(20, sizes[t]) for t in tasks})

    def forward(self, x):
        z = self.trunk(x)
        return {t: head(z) for t, head in self.heads.items()}


def task_losses(pred, x) -> Dict[str, torch.Tensor]:
    return {
        "seg": F.cross_entropy(pred["seg"], x[:, :4].argmax(1)),
        "depth": F.l1_loss(pred["depth"], x[:, 4:5].abs()),
        "normal": (1 - F.cosine_similarity(pred["normal"], x[:, 1:4], dim=1)).mean(),
    }


class DynamicWeightAverage:
    """Weights tasks by how fast their losses fell in the last two epochs."""

    def __init__(self, cfg: Config):
        self.cfg, self.history = cfg, []
        self.running = {t: 0.0 for t in cfg.tasks}
        self.count = 0

    def update(self, losses):
        for t, value in losses.items():
            self.running[t] = self.running[t] + value
        self.count += 1

    def end_epoch(self):
        self.history.append({t: v / self.count for t, v in self.running.items()})
        self.running, self.count = {t: 0.0 for t in self.cfg.tasks}, 0

    def weights(self):
        if len(self.history) < 2:
            return {t: 1.0 for t in self.cfg.tasks}
        now, before = {t: v.detach() for t, v in self.history[-1].items()}, self.history[-2]
        ratio = torch.stack([now[t] / before[t] for t in self.cfg.tasks]) / self.cfg.temperature
        w = len(self.cfg.tasks) * torch.softmax(ratio, 0)
        return dict(zip(self.cfg.tasks, w))


def train(cfg: Config):
    torch.manual_seed(cfg.seed)
    model = MultiTaskNet(cfg.tasks)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)
    dwa = DynamicWeightAverage(cfg)
    for epoch in range(cfg.epochs):
        weights = dwa.weights()
        for _ in range(cfg.batches):
            x = torch.randn(12, 6)
            losses = task_losses(model(x), x)
            dwa.update(losses)
            loss = sum(weights[t] * losses[t] for t in cfg.tasks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        dwa.end_epoch()
        scheduler.step()
        print(epoch, " ".join(f"{t} {float(weights[t]):.5f}" for t in cfg.tasks), f"loss {loss.item():.5f}")


if __name__ == "__main__":
    train(Config())
