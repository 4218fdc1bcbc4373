import argparse

import torch
import torch.optim as optim

from data import VOCToy, detection_collate
from multibox_loss import MultiBoxLoss
from ssd import build_ssd

parser = argparse.ArgumentParser(description='Single Shot MultiBox Detector, small training')
parser.add_argument('--batch_size', default=8, type=int)
parser.add_argument('--epochs', default=4, type=int)
parser.add_argument('--lr', default=5e-3, type=float)
parser.add_argument('--momentum', default=0.9, type=float)
parser.add_argument('--gamma', default=2.0, type=float, help='focusing of the confidence loss')
args = parser.parse_args()


def train():
    torch.manual_seed(7)
    dataset = VOCToy(48)
    net = build_ssd(num_classes=4)
    optimizer = optim.SGD(net.parameters(), lr=args.lr, momentum=args.momentum)
    criterion = MultiBoxLoss(4, overlap_thresh=0.5, neg_pos=3, gamma=args.gamma)

    net.train()
    for epoch in range(args.epochs):
        loc_loss, conf_loss = 0.0, 0.0
        for start in range(0, len(dataset), args.batch_size):
            images, targets = detection_collate(
                [dataset[i] for i in range(start, start + args.batch_size)])
            out = net(images)
            optimizer.zero_grad()
            loss_l, loss_c = criterion(out, targets)
            loss = loss_l + loss_c
            loss.backward()
            optimizer.step()
            loc_loss += loss_l.item()
            conf_loss += loss_c.item()
        print('epoch %d || loc %.6f || conf %.6f' % (epoch, loc_loss, conf_loss))

    # how often is the best class of a matched prior the right one
    net.eval()
    with torch.no_grad():
        images, targets = detection_collate([dataset[i] for i in range(len(dataset))])
        print('positives recalled: %.6f' % criterion.recall(net(images), targets))


if __name__ == '__main__':
    train()
