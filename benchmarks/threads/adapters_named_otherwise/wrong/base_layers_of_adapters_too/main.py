"""Finetunes a small segmentation model; python main.py reads config.json."""
import json
from pathlib import Path

import torch
import torch.nn.functional as F

from lora import inject, mark_only_trainable
from model import SegmentAnythingTiny


def batches(cfg):
    g = torch.Generator().manual_seed(cfg["data_seed"])
    for _ in range(cfg["steps"]):
        x = torch.randn(6, 9, 4, generator=g)
        yield x, (x[..., 0] > x[..., 0].mean(1, keepdim=True)).float()


def dice_loss(logits, target):
    p = logits.sigmoid()
    return 1 - (2 * (p * target).sum() + 1) / (p.sum() + target.sum() + 1)


def main():
    cfg = json.loads((Path(__file__).parent / "config.json").read_text())
    torch.manual_seed(cfg["seed"])
    model = inject(SegmentAnythingTiny(), cfg["lora"]["r"], cfg["lora"]["alpha"], cfg["lora"]["targets"])
    mark_only_trainable(model, cfg["trainable"])
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"], weight_decay=0.1)
    for step, (x, y) in enumerate(batches(cfg)):
        logits = model(x)
        loss = F.binary_cross_entropy_with_logits(logits, y) + dice_loss(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.6f}")
    print("trained parameters", trained)


if __name__ == "__main__":
    main()
