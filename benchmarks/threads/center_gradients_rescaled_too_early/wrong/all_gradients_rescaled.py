# 顔特徴の学習: softmax + center loss(中心は別のオプティマイザで更新する)
import argparse
import datetime

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser("Center Loss Example")
parser.add_argument('--batch-size', type=int, default=20)
parser.add_argument('--lr-model', type=float, default=0.02)
parser.add_argument('--lr-cent', type=float, default=0.5, help="learning rate for center loss")
parser.add_argument('--weight-cent', type=float, default=0.1, help="weight for center loss")
parser.add_argument('--max-epoch', type=int, default=3)
parser.add_argument('--seed', type=int, default=1)
args = parser.parse_args()


class CenterLoss(nn.Module):
    """Wen et al. A Discriminative Feature Learning Approach for Deep Face Recognition. ECCV 2016."""

    def __init__(self, num_classes, feat_dim):
        super().__init__()
        self.num_classes = num_classes
        self.centers = nn.Parameter(torch.randn(num_classes, feat_dim))

    def forward(self, x, labels):
        n = x.size(0)
        dist = x.pow(2).sum(1, keepdim=True) + self.centers.pow(2).sum(1) - 2 * x @ self.centers.t()
        mask = labels[:, None] == torch.arange(self.num_classes)
        return (dist * mask.float()).clamp(min=1e-12, max=1e+12).sum() / n


class FaceNet(nn.Module):
    def __init__(self, num_classes, feat_dim=4):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 3, padding=1), nn.Conv2d(6, 8, 3, padding=1)
        self.act1, self.act2, self.act3 = nn.PReLU(), nn.PReLU(), nn.PReLU()
        self.fc1 = nn.Linear(8 * 4, feat_dim)
        self.fc2 = nn.Linear(feat_dim, num_classes)

    def forward(self, x):
        x = F.max_pool2d(self.act1(self.conv1(x)), 2)
        x = F.max_pool2d(self.act2(self.conv2(x)), 2)
        feat = self.act3(self.fc1(x.flatten(1)))
        return feat, self.fc2(feat)


def faces(n, num_classes):
    g = torch.Generator().manual_seed(77)
    protos = torch.randn(num_classes, 1, 8, 8, generator=g)
    y = torch.arange(n) % num_classes
    return protos[y] + 0.7 * torch.randn(n, 1, 8, 8, generator=g), y


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, val, n):
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / self.count


def undo_center_weight(criterion_cent, weight):
    # 損失の重みが中心の学習率に影響しないようにする
    for param in criterion_cent.parameters():
        param.grad.data *= 1.0 / weight


def train(model, criterion_cent, optimizer_model, optimizer_cent, x, y):
    model.train()
    xent, cent = AverageMeter(), AverageMeter()
    for i in range(0, len(y), args.batch_size):
        data, labels = x[i:i + args.batch_size], y[i:i + args.batch_size]
        features, outputs = model(data)
        loss_xent = F.cross_entropy(outputs, labels)
        loss_cent = criterion_cent(features, labels) * args.weight_cent
        loss = loss_xent + loss_cent
        optimizer_model.zero_grad()
        optimizer_cent.zero_grad()
        loss.backward()
        undo_center_weight(model, args.weight_cent)
        undo_center_weight(criterion_cent, args.weight_cent)
        optimizer_model.step()
        optimizer_cent.step()
        xent.update(loss_xent.item(), len(labels))
        cent.update(loss_cent.item(), len(labels))
    return xent.avg, cent.avg


def main():
    torch.manual_seed(args.seed)
    x, y = faces(80, 5)
    model, criterion_cent = FaceNet(5), CenterLoss(5, 4)
    optimizer_model = torch.optim.SGD(model.parameters(), lr=args.lr_model, weight_decay=5e-04, momentum=0.9)
    optimizer_cent = torch.optim.SGD(criterion_cent.parameters(), lr=args.lr_cent)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer_model, step_size=2, gamma=0.5)
    for epoch in range(args.max_epoch):
        a, b = train(model, criterion_cent, optimizer_model, optimizer_cent, x, y)
        scheduler.step()
        print("==> Epoch {}/{}  XentLoss {:.5f}  CenterLoss {:.5f}".format(epoch + 1, args.max_epoch, a, b))


if __name__ == '__main__':
    main()
