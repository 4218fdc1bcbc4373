#!/usr/bin/env python3
import argparse, logging, sys
import torch
import torch.nn as nn
import torch.nn.functional as F

log = logging.getLogger('probe')

## --- monitoring of activations ---------------------------------------------------------------

class ActivationMonitor:
    """keeps the activations of the current batch, for statistics; training must not notice"""

    def __init__(self, model, names):
        self.acts, self.handles, self.history = {}, [], []
        modules = dict(model.named_modules())
        for name in names:
            self.handles.append(modules[name].register_forward_hook(
                lambda module, args, output, name=name: self.acts.setdefault(name, output.detach())))

    def summary(self):
        stats = {n: (a.mean().item(), a.std().item(), (a <= 0).float().mean().item()) for n, a in self.acts.items()}
        self.history.append(stats)
        self.acts.clear()
        return stats

    def remove(self):
        for h in self.handles:
            h.remove()

## --- model -----------------------------------------------------------------------------------

class Residual(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(ch, ch, 3, padding=1), nn.Conv1d(ch, ch, 3, padding=1)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(x + self.conv2(self.act(self.conv1(x))))


class KeywordNet(nn.Module):
    def __init__(self, ch, classes):
        super().__init__()
        self.front = nn.Conv1d(1, ch, 8, stride=4)
        self.block1, self.block2 = Residual(ch), Residual(ch)
        self.head = nn.Linear(ch, classes)

    def forward(self, wav):
        x = F.relu(self.front(wav))
        x = self.block2(self.block1(x))
        return self.head(x.mean(-1))

## --- data ------------------------------------------------------------------------------------

def keywords(batch, length=64):
    y = torch.randint(0, 4, (batch,))
    t = torch.arange(length) / length
    f = 3 + 3 * y[:, None]
    x = torch.sin(6.2832 * f * t + 6.2832 * torch.rand(batch, 1)) + 0.3 * torch.randn(batch, length)
    return x[:, None], y

## --- training --------------------------------------------------------------------------------

def run(args):
    torch.manual_seed(args.seed)
    model = KeywordNet(args.channels, 4)
    monitor = ActivationMonitor(model, args.watch.split(','))
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for step in range(args.steps):
        x, y = keywords(args.batch)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
        stats = monitor.summary()
        print('%d loss %.6f' % (step, loss.item()), ' '.join('%s %.5f/%.5f/%.3f' % ((n,) + s) for n, s in sorted(stats.items())))
    monitor.remove()
    return model


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument('--channels', type=int, default=8)
    parser.add_argument('--batch', type=int, default=12)
    parser.add_argument('--steps', type=int, default=6)
    parser.add_argument('--lr', type=float, default=0.05)
    parser.add_argument('--seed', type=int, default=1926)
    parser.add_argument('--watch', default='block1,block2')
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
    run(parser.parse_args(argv))


if __name__ == '__main__':
    main()
