import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument('--margin', type=float, default=0.4)
parser.add_argument('--negatives', type=int, default=3)
parser.add_argument('--lr', type=float, default=0.05)
opt = parser.parse_args()

torch.manual_seed(44)
encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(encoder.parameters(), lr=opt.lr)
identities = torch.randn(6, 8)


def sample(k):
    return identities[k] + 0.2 * torch.randn(len(k), 8)


for epoch in range(3):
    total = 0.0
    for batch in range(2):
        who = torch.randperm(6)[:4]
        anchor, positive = F.normalize(encoder(sample(who)), dim=1), F.normalize(encoder(sample(who)), dim=1)
        for n in range(opt.negatives):
            negative = F.normalize(encoder(sample((who + n + 1) % 6)), dim=1)
            anchor, positive = anchor.detach(), positive.detach()
            d_ap = (anchor - positive).pow(2).sum(1)
            d_an = (anchor - negative).pow(2).sum(1)
            loss = F.relu(d_ap - d_an + opt.margin).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
    print('epoch %d triplet %.6f' % (epoch, total))
