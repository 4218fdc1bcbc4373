# 零样本检测：两次调用同一个语义头（真实区域 + 合成背景）
import argparse

import torch

from config import load_config
from detector import ZeroShotDetector
from engine import evaluate, train_one_epoch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--set", nargs="*", default=[], help="key=value")
    args = parser.parse_args()
    cfg = load_config(args.set)
    torch.manual_seed(cfg["seed"])
    model = ZeroShotDetector(cfg)
    params = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(params, lr=cfg["lr"], momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    generator = torch.Generator().manual_seed(cfg["seed"])
    for epoch in range(args.epochs):
        log = train_one_epoch(model, optimizer, cfg, generator)
        scheduler.step()
        print("epoch", epoch, " ".join("%s=%.5f" % kv for kv in sorted(log.items())))
    print("unseen recall %.4f, bg norm %.5f" % evaluate(model, cfg, generator))


if __name__ == "__main__":
    main()
