"""Adversarial training with PGD on two spirals (MadryLab style)"""
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class LinfPGDAttack(object):
    """k steps of gradient ascent within an L-infinity ball around x"""

    def __init__(self, model, epsilon, k, alpha, random_start=True):
        self.model, self.epsilon, self.k, self.alpha, self.random_start = model, epsilon, k, alpha, random_start

    def perturb(self, x_natural, y):
        x = x_natural.detach().clone()
        if self.random_start:
            x = x + torch.empty_like(x).uniform_(-self.epsilon, self.epsilon)
        x.requires_grad_()
        for i in range(1):
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            x = x + self.alpha * x.grad.sign()
            x = torch.min(torch.max(x, x_natural - self.epsilon), x_natural + self.epsilon)
        return x.detach()


def spirals(n, rng):
    t = np.sqrt(rng.rand(n)) * 3 * np.pi
    y = rng.randint(0, 2, n)
    x = np.stack([t * np.cos(t + np.pi * y), t * np.sin(t + np.pi * y)], 1) / 6 + 0.02 * rng.randn(n, 2)
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y)


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.l1, self.l2, self.l3 = nn.Linear(2, width), nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, x):
        x = F.silu(self.l1(x))
        x = F.silu(self.l2(x))
        return self.l3(x)


def train(epoch, net, adversary, optimizer, data, batch):
    net.train()
    x_all, y_all = data
    correct = 0
    for i, idx in enumerate(torch.randperm(len(x_all)).split(batch)):
        inputs, targets = x_all[idx], y_all[idx]
        adv = adversary.perturb(inputs, targets)
        optimizer.zero_grad()
        outputs = net(adv)
        loss = F.cross_entropy(outputs, targets)
        loss.backward()
        optimizer.step()
        correct += outputs.argmax(1).eq(targets).sum().item()
        if i % 2 == 0:
            print('epoch %d batch %d adversarial loss %.6f shift %.6f' % (epoch, i, loss.item(), (adv - inputs).abs().mean().item()))
    return correct / len(x_all)


def test(net, data):
    net.eval()
    with torch.no_grad():
        return F.cross_entropy(net(data[0]), data[1]).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--epsilon', type=float, default=0.15)
    parser.add_argument('--k', type=int, default=4)
    parser.add_argument('--alpha', type=float, default=0.05)
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--lr', type=float, default=0.1)
    args = parser.parse_args()
    torch.manual_seed(0)
    rng = np.random.RandomState(0)
    net = Net(20)
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, weight_decay=2e-4)
    adversary = LinfPGDAttack(net, args.epsilon, args.k, args.alpha)
    data, held_out = spirals(96, rng), spirals(48, rng)
    for epoch in range(args.epochs):
        acc = train(epoch, net, adversary, optimizer, data, 24)
        print('robust acc %.4f  benign test loss %.6f' % (acc, test(net, held_out)))


if __name__ == '__main__':
    main()
