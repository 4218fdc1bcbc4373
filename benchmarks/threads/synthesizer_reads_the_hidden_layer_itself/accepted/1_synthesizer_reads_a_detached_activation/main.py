import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

from data import make_loader
from dni import BackwardInterface, Synthesizer


class Net(nn.Module):
    def __init__(self, dim, n_classes, n_hidden, n_synth):
        super().__init__()
        self.n_classes = n_classes
        self.block1 = nn.Sequential(nn.Linear(dim, n_hidden), nn.Tanh())
        self.bi1 = BackwardInterface(Synthesizer(n_hidden, n_synth, context_dim=n_classes))
        self.block2 = nn.Sequential(nn.Linear(n_hidden, n_hidden), nn.Tanh())
        self.bi2 = BackwardInterface(Synthesizer(n_hidden, n_synth, context_dim=n_classes))
        self.head = nn.Linear(n_hidden, n_classes)

    def interfaces(self):
        return [self.bi1, self.bi2]

    def forward(self, x, y=None):
        if self.training:
            context = F.one_hot(y, self.n_classes).float()
            x = self.bi1(self.block1(x), context)
            x = self.bi2(self.block2(x), context)
        else:
            x = self.block2(self.block1(x))
        return self.head(x)


def train(args, model, loader, optimizer, synth_optimizer, epoch):
    model.train()
    total, total_synth = 0.0, 0.0
    for x, y in loader:
        optimizer.zero_grad()
        synth_optimizer.zero_grad()

        loss = F.cross_entropy(model(x, y), y)
        loss.backward()

        # the true (or bootstrapped) gradients are here now: teach the synthesizers
        synth_loss = sum(bi.synthesizer_loss() for bi in model.interfaces())
        (args.synth_scale * synth_loss).backward()

        optimizer.step()
        synth_optimizer.step()
        total += loss.item()
        total_synth += synth_loss.item()
    print('epoch %d  loss %.6f  synth %.6f' % (epoch, total / len(loader), 1e4 * total_synth / len(loader)))


@torch.no_grad()
def test(model, loader):
    model.eval()
    hits = sum((model(x).argmax(1) == y).float().mean().item() for x, y in loader)
    print('test accuracy %.6f' % (hits / len(loader)))


def main():
    parser = argparse.ArgumentParser(description='DNI on a toy problem')
    parser.add_argument('--epochs', type=int, default=4)
    parser.add_argument('--batch-size', type=int, default=64)
    parser.add_argument('--lr', type=float, default=5e-3)
    parser.add_argument('--synth-lr', type=float, default=3e-3)
    parser.add_argument('--synth-scale', type=float, default=100.0)
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    train_loader = make_loader(25, args.batch_size, seed=0)
    model = Net(20, 6, n_hidden=32, n_synth=32)
    synth_params = [p for bi in model.interfaces() for p in bi.parameters()]
    ids = {id(p) for p in synth_params}
    net_params = [p for p in model.parameters() if id(p) not in ids]
    optimizer = torch.optim.Adam(net_params, lr=args.lr)
    synth_optimizer = torch.optim.Adam(synth_params, lr=args.synth_lr)
    for epoch in range(1, args.epochs + 1):
        train(args, model, train_loader, optimizer, synth_optimizer, epoch)
    test(model, train_loader[:8])


if __name__ == '__main__':
    main()
