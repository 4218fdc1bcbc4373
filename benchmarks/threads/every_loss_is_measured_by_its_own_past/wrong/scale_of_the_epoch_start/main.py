import argparse

import torch

from config import Config
from data import make_loaders
from model import MultiTaskNet
from trainer import Trainer


def parse_args():
    p = argparse.ArgumentParser(description="material properties, three heads")
    p.add_argument("--epochs", type=int, default=None)
    p.add_argument("--lr", type=float, default=None)
    p.add_argument("--momentum", type=float, default=None, help="momentum of the loss normaliser")
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


def main():
    args = parse_args()
    cfg = Config().override(vars(args))
    torch.manual_seed(cfg.seed)
    train_loader, val_loader = make_loaders(cfg)
    model = MultiTaskNet(cfg.n_features, cfg.hidden)
    trainer = Trainer(model, cfg)
    trainer.fit(train_loader, val_loader)


if __name__ == "__main__":
    main()
