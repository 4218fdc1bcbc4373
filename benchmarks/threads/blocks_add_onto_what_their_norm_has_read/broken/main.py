import torch
from torch.utils.data import DataLoader

from config import Config
from data import SquaresAndDiscs
from engine import evaluate, train_one_epoch
from vit.model import VisionTransformer


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    train_set = SquaresAndDiscs(192, cfg.image_size, seed=1)
    test_set = SquaresAndDiscs(96, cfg.image_size, seed=2)
    train_loader = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=96)

    model = VisionTransformer(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.epochs)

    for epoch in range(cfg.epochs):
        loss = train_one_epoch(model, train_loader, optimizer)
        scheduler.step()
        acc = evaluate(model, test_loader)
        print(f"epoch {epoch}: train loss {loss:.4f}, test accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
