import argparse

import torch
from torch.utils.data import DataLoader

from burgers import dataset
from fno import FNO1d, LpLoss


def evaluate(model, loader, loss_fn):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for a, u in loader:
            total += loss_fn(model(a), u).item() * len(a)
    return total / len(loader.dataset)


def train(args):
    torch.manual_seed(args.seed)
    train_set = DataLoader(dataset(48, args.grid, 1), batch_size=12, shuffle=True)
    test_set = DataLoader(dataset(16, args.grid, 2), batch_size=16)
    model = FNO1d(args.modes, args.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    loss_fn = LpLoss()
    for ep in range(args.epochs):
        model.train()
        train_l2 = 0.0
        for a, u in train_set:
            optimizer.zero_grad()
            loss = loss_fn(model(a), u)
            loss.backward()
            optimizer.step()
            train_l2 += loss.item() * len(a)
        scheduler.step()
        print(f"{ep} train {train_l2 / 48:.5f} test {evaluate(model, test_set, loss_fn):.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--modes", type=int, default=5)
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--grid", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=0)
    train(parser.parse_args())
