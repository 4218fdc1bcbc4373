import argparse

import torch
from torch.utils.data import DataLoader

from data import normal_and_attacked
from usad import UsadModel


def training(epochs, model, loader, lr):
    """Adversarial training in turns: in every batch AE1 (encoder + decoder1)
    moves first, then AE2 (encoder + decoder2) answers the AE1 it now faces."""
    optimizer1 = torch.optim.Adam(list(model.encoder.parameters()) + list(model.decoder1.parameters()), lr=lr)
    optimizer2 = torch.optim.Adam(list(model.encoder.parameters()) + list(model.decoder2.parameters()), lr=lr)
    history = []
    for epoch in range(epochs):
        for batch in loader:
            loss1, loss2 = model.training_step(batch, epoch + 1)

            # Train AE1
            optimizer1.zero_grad()
            optimizer2.zero_grad()
            loss1.backward(retain_graph=True)

            # Train AE2
            loss2.backward()
            optimizer1.step()
            optimizer2.step()
        history.append((loss1.item(), loss2.item()))
        print('Epoch [%d], val_loss1: %.6f, val_loss2: %.6f' % (epoch, loss1.item(), loss2.item()))
    return history


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--window', type=int, default=6)
    parser.add_argument('--hidden', type=int, default=8)
    parser.add_argument('--epochs', type=int, default=4)
    parser.add_argument('--batch-size', type=int, default=32)
    parser.add_argument('--lr', type=float, default=2e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    train, test = normal_and_attacked(args.window)
    loader = DataLoader(train, batch_size=args.batch_size, shuffle=True, generator=torch.Generator().manual_seed(1))
    model = UsadModel(train.shape[1], args.hidden)
    training(args.epochs, model, loader, args.lr)
    scores = model.score(test)
    print('anomaly score: mean %.6f max %.6f' % (scores.mean().item(), scores.max().item()))
    print('encoder weight norm: %.6f' % model.encoder.linear2.weight.norm().item())
