# -*- coding: utf-8 -*-
"""
Contrastive pretraining with hard negatives on small vectors, then a linear probe.

    python main.py --beta 1.0 --tau_plus 0.1
"""
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

parser = argparse.ArgumentParser(description='Train with hard negatives')
parser.add_argument('--feature_dim', default=8, type=int)
parser.add_argument('--temperature', default=0.5, type=float)
parser.add_argument('--tau_plus', default=0.1, type=float, help='Positive class prior')
parser.add_argument('--beta', default=1.0, type=float, help='Concentration of the negatives')
parser.add_argument('--batch_size', default=24, type=int)
parser.add_argument('--epochs', default=3, type=int)
args = parser.parse_args([])

torch.manual_seed(5)
np.random.seed(5)


class TwoCropsDataset(torch.utils.data.Dataset):
    """ two noisy views of a prototype vector """

    def __init__(self, n=96, dim=10, classes=4):
        self.proto = np.random.randn(classes, dim).astype(np.float32)
        self.labels = np.arange(n) % classes
        self.base = self.proto[self.labels] + 0.5 * np.random.randn(n, dim).astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def view(self, i):
        return torch.from_numpy(self.base[i] + 0.3 * np.random.randn(self.base.shape[1]).astype(np.float32))

    def __getitem__(self, i):
        return self.view(i), self.view(i), int(self.labels[i])


class Model(nn.Module):
    def __init__(self, feature_dim):
        super(Model, self).__init__()
        self.f = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 16))
        self.g = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, feature_dim))

    def forward(self, x):
        feature = self.f(x)
        return F.normalize(feature, dim=-1), F.normalize(self.g(feature), dim=-1)


def get_negative_mask(batch_size):
    mask = torch.ones((batch_size, 2 * batch_size), dtype=torch.bool)
    for i in range(batch_size):
        mask[i, i] = 0
        mask[i, i + batch_size] = 0
    return torch.cat((mask, mask), 0)


def criterion(out_1, out_2, tau_plus, beta, temperature):
    batch_size = out_1.size(0)
    # neg score
    out = torch.cat([out_1, out_2], dim=0)
    neg = torch.exp(torch.mm(out, out.t()) / temperature)
    neg = neg.masked_select(get_negative_mask(batch_size)).view(2 * batch_size, -1)

    # pos score
    pos = torch.exp(torch.sum(out_1 * out_2, dim=-1) / temperature)
    pos = torch.cat([pos, pos], dim=0)

    # negative samples similarity scoring: hard ones weigh more
    N = batch_size * 2 - 2
    imp = (beta * neg.log()).exp()
    Ng = (-tau_plus * N * pos + neg.sum(dim=-1)) / (1 - tau_plus)
    # constrain (optional)
    Ng = torch.clamp(Ng, min=N * np.e ** (-1 / temperature))

    return (-torch.log(pos / (pos + Ng))).mean()


def train(net, loader, optimizer):
    net.train()
    total, num = 0.0, 0
    for pos_1, pos_2, _ in loader:
        _, out_1 = net(pos_1)
        _, out_2 = net(pos_2)
        loss = criterion(out_1, out_2, args.tau_plus, args.beta, args.temperature)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * pos_1.size(0)
        num += pos_1.size(0)
    return total / num


def nearest_class(net, data):
    net.eval()
    with torch.no_grad():
        f, _ = net(torch.from_numpy(data.base))
        y = torch.from_numpy(data.labels)
        centers = torch.stack([f[y == c].mean(0) for c in range(4)])
        return (f @ F.normalize(centers, dim=-1).t()).argmax(-1).eq(y).float().mean().item()


if __name__ == '__main__':
    data = TwoCropsDataset()
    loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size, shuffle=True, drop_last=True)
    net = Model(args.feature_dim)
    optimizer = optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-6)
    for epoch in range(1, args.epochs + 1):
        loss = train(net, loader, optimizer)
        print('Train Epoch: [{}/{}] Loss: {:.6f} Acc: {:.4f}'.format(epoch, args.epochs, loss, nearest_class(net, data)))
