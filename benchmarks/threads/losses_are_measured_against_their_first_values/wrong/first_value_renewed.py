"""Indoor scenes: depth, normals and segmentation from one backbone, the losses balanced by their relative progress."""
from dataclasses import dataclass, field
from typing import Dict, List, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    seed: int = 5
    epochs: int = 4
    batches: int = 5
    batch_size: int = 16
    width: int = 24
    classes: int = 4
    lr: float = 3e-3
    tasks: List[str] = field(default_factory=lambda: ["depth", "normal", "segmentation"])


class Scenes:
    """Random patches with labels that three fixed projections produce."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)
        self.to_depth = torch.randn(10, 1, generator=self.gen) * 4.0
        self.to_normal = torch.randn(10, 3, generator=self.gen)
        self.to_class = torch.randn(10, cfg.classes, generator=self.gen)

    def __iter__(self):
        for _ in range(self.cfg.batches):
            x = torch.randn(self.cfg.batch_size, 10, generator=self.gen)
            yield x, {
                "depth": (x.tanh() @ self.to_depth).squeeze(1),
                "normal": F.normalize(x @ self.to_normal, dim=1),
                "segmentation": (x @ self.to_class).argmax(1),
            }


class SharedBackboneNet(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(10, cfg.width), nn.ReLU(), nn.Linear(cfg.width, cfg.width), nn.ReLU()
        )
        outputs = {"depth": 1, "normal": 3, "segmentation": cfg.classes}
        self.heads = nn.ModuleDict({t: nn.Linear(cfg.width, outputs[t]) for t in cfg.tasks})

    def forward(self, x) -> Dict[str, torch.Tensor]:
        h = self.backbone(x)
        return {task: head(h) for task, head in self.heads.items()}


def task_losses(outputs, labels) -> Dict[str, torch.Tensor]:
    return {
        "depth": F.smooth_l1_loss(outputs["depth"].squeeze(1), labels["depth"]),
        "normal": (1 - F.cosine_similarity(outputs["normal"], labels["normal"], dim=1)).mean(),
        "segmentation": F.cross_entropy(outputs["segmentation"], labels["segmentation"]),
    }


class RelativeProgress:
    """Weighs every task by 1: depth in metres must not drown the others, so each loss is taken relative to where
    it was at the beginning of the training."""

    def __init__(self, tasks: List[str]):
        self.tasks = tasks
        self.initial: Optional[Dict[str, torch.Tensor]] = None

    def __call__(self, losses: Dict[str, torch.Tensor]) -> torch.Tensor:
        self.initial = {t: loss.detach() for t, loss in losses.items()}
        ratios = [losses[t] / self.initial[t] for t in self.tasks]
        return torch.stack(ratios).sum()

    def report(self, losses: Dict[str, float]) -> str:
        return "  ".join(f"{t} {losses[t] / float(self.initial[t]):.4f}" for t in self.tasks)


def train(cfg: Config):
    torch.manual_seed(cfg.seed)
    data = Scenes(cfg)
    net = SharedBackboneNet(cfg)
    balance = RelativeProgress(cfg.tasks)
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        sums = {t: 0.0 for t in cfg.tasks}
        for x, labels in data:
            losses = task_losses(net(x), labels)
            total = balance(losses)
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            for t in cfg.tasks:
                sums[t] += losses[t].item() / cfg.batches
        print(f"epoch {epoch}: {balance.report(sums)}")


if __name__ == "__main__":
    train(Config())
