import argparse

import torch
import torch.nn.functional as F

from admm import ADMM
from data import make_loaders
from model import LeNet


def parse():
    p = argparse.ArgumentParser(description='ADMM weight pruning, toy digits')
    p.add_argument('--epochs', type=int, default=4, help='admm epochs')
    p.add_argument('--retrain-epochs', type=int, default=2)
    p.add_argument('--batch-size', type=int, default=40)
    p.add_argument('--lr', type=float, default=2e-3)
    p.add_argument('--rho', type=float, default=2e-2)
    p.add_argument('--percent', type=float, nargs='+', default=[0.5, 0.7, 0.8, 0.6], help='share of each weight to prune')
    p.add_argument('--seed', type=int, default=1)
    return p.parse_args()


def train_admm(args, model, admm, loader, optimizer):
    for epoch in range(args.epochs):
        model.train()
        total = 0.
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y) + admm.penalty(model)
            loss.backward()
            optimizer.step()
            total += loss.item()
        admm.update(model)
        primal, _ = admm.residuals(model)
        print('epoch %d  loss %.6f  |W-Z| %.6f' % (epoch, total / len(loader), primal))


def retrain(args, model, masks, loader, optimizer):
    for epoch in range(args.retrain_epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            for name, p in model.named_parameters():
                if name in masks:
                    p.grad *= masks[name]
            optimizer.step()
            with torch.no_grad():
                for name, p in model.named_parameters():
                    if name in masks:
                        p *= masks[name]
        print('retrain %d  loss %.6f' % (epoch, loss.item()))


@torch.no_grad()
def test(model, loader):
    model.eval()
    hit = n = 0
    for x, y in loader:
        hit += (model(x).argmax(1) == y).sum().item()
        n += len(y)
    return hit / n


def main():
    args = parse()
    torch.manual_seed(args.seed)
    train_loader, test_loader = make_loaders(args.batch_size, args.seed)
    model = LeNet()
    admm = ADMM(model, args.percent, args.rho)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    train_admm(args, model, admm, train_loader, optimizer)
    print('accuracy before pruning %.6f' % test(model, test_loader))
    masks = admm.apply(model)
    print('accuracy after pruning  %.6f' % test(model, test_loader))
    retrain(args, model, masks, train_loader, torch.optim.Adam(model.parameters(), lr=args.lr))
    print('accuracy after retrain  %.6f' % test(model, test_loader))


if __name__ == '__main__':
    main()
