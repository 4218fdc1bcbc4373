import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from models import SmallResNet
from utils import to_one_hot, load_data

parser = argparse.ArgumentParser(description='Train with mixup on hidden layers')
parser.add_argument('--epochs', type=int, default=4)
parser.add_argument('--batch_size', type=int, default=16)
parser.add_argument('--learning_rate', type=float, default=0.05)
parser.add_argument('--mixup_alpha', type=float, default=1.0)
parser.add_argument('--manualSeed', type=int, default=5)
args = parser.parse_args()

np.random.seed(args.manualSeed)
torch.manual_seed(args.manualSeed)
torch.set_num_threads(1)

num_classes = 4
train_x, train_y, test_x, test_y = load_data(num_classes)
net = SmallResNet(num_classes, initial_channels=8)
optimizer = torch.optim.SGD(net.parameters(), args.learning_rate, momentum=0.9, weight_decay=1e-4)
bce_loss = nn.BCELoss()


def train(epoch):
    net.train()
    total = 0.0
    order = np.random.permutation(len(train_x))
    n_batch = len(order) // args.batch_size
    for b in range(n_batch):
        idx = torch.from_numpy(order[b * args.batch_size:(b + 1) * args.batch_size])
        output, reweighted_target = net(train_x[idx], train_y[idx], mixup_hidden=True,
                                        mixup_alpha=args.mixup_alpha)
        loss = bce_loss(F.softmax(output, dim=1), reweighted_target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / n_batch


def test():
    net.eval()
    with torch.no_grad():
        output = net(test_x)
        loss = F.cross_entropy(output, test_y).item()
        acc = (output.argmax(1) == test_y).float().mean().item()
    return loss, acc


for epoch in range(args.epochs):
    tr = train(epoch)
    te, acc = test()
    print('epoch %d  train %.6f  test %.6f  acc %.6f' % (epoch, tr, te, acc))
