"""Recurrent attention on synthetic 'birds': three scales, classification and ranking losses in alternation."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class RankLoss(nn.Module):
    """The finer scale should be surer of the label than the coarser one, by a margin."""

    def __init__(self, margin):
        super(RankLoss, self).__init__()
        self.margin = margin

    def forward(self, scores1, scores2, target):
        ps1 = F.softmax(scores1, dim=1).gather(1, target.view(-1, 1)).squeeze(1)
        ps2 = F.softmax(scores2, dim=1).gather(1, target.view(-1, 1)).squeeze(1)
        return torch.clamp(ps1 - ps2 + self.margin, min=0).mean()


class AttentionCrop(nn.Module):
    """Differentiable zoom into (tx, ty, tl)"""

    def forward(self, images, locs):
        tx, ty = 0.6 * torch.tanh(locs[:, 0]), 0.6 * torch.tanh(locs[:, 1])
        tl = 0.4 + 0.4 * torch.sigmoid(locs[:, 2])
        zero = torch.zeros_like(tl)
        theta = torch.stack([torch.stack([tl, zero, tx], 1), torch.stack([zero, tl, ty], 1)], 1)
        grid = F.affine_grid(theta, list(images.shape), align_corners=False)
        return F.grid_sample(images, grid, align_corners=False)


class Scale(nn.Module):
    def __init__(self, classes, w=8):
        super(Scale, self).__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, w, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2),
            nn.Conv2d(w, w, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2))
        self.classifier = nn.Linear(w * 9, classes)

    def forward(self, x):
        f = self.features(x).flatten(1)
        return self.classifier(f), f


class RACNN(nn.Module):
    def __init__(self, classes):
        super(RACNN, self).__init__()
        self.scales = nn.ModuleList([Scale(classes) for _ in range(3)])
        self.apn = nn.ModuleList([nn.Sequential(nn.Linear(72, 16), nn.Tanh(), nn.Linear(16, 3)) for _ in range(2)])
        self.crop = AttentionCrop()

    def forward(self, x):
        scores = []
        for i, scale in enumerate(self.scales):
            s, f = scale(x)
            scores.append(s)
            if i < len(self.apn):
                x = self.crop(x, self.apn[i](f))
        return scores

    def parts(self):
        return list(self.scales.parameters()), list(self.apn.parameters())


class Manager(object):
    def __init__(self, args):
        self.args = args
        self.model = RACNN(args.num_classes)
        self.criterion_class = nn.CrossEntropyLoss()
        self.criterion_rank = RankLoss(args.margin)
        class_params, apn_params = self.model.parts()
        self.optimizer_class = torch.optim.SGD(class_params, lr=args.lr_class, momentum=0.9)
        self.optimizer_apn = torch.optim.SGD(apn_params, lr=args.lr_apn, momentum=0.9)

    def rank_pairs(self, scores, label):
        return sum(self.criterion_rank(scores[i - 1], scores[i], label) for i in range(1, len(scores)))

    def eval(self, images, labels):
        with torch.no_grad():
            scores = self.model(images)
            rank = self.rank_pairs(scores, labels).mean()
            loss = sum(self.criterion_class(s, labels) for s in scores)
        return loss.item(), rank.item()

    def do_batch(self, optimizer, batch, label, optimize_class=True):
        optimizer.zero_grad()
        scores = self.model(batch)
        if optimize_class:
            loss = sum(self.criterion_class(s, label) for s in scores)
        else:
            loss = self.rank_pairs(scores, label)
        loss.backward()
        optimizer.step()

    def do_epoch(self, data, optimizer, optimize_class):
        images, labels = data
        for idx in torch.randperm(len(images)).split(self.args.batch_size):
            self.do_batch(optimizer, images[idx], labels[idx], optimize_class)

    def train(self, data):
        for epoch in range(self.args.epochs):
            self.do_epoch(data, self.optimizer_class, optimize_class=True)
            self.do_epoch(data, self.optimizer_apn, optimize_class=False)
            print('epoch %d: class %.5f rank %.5f' % ((epoch + 1,) + self.eval(*data)))


def birds(n, classes, size=12):
    label = torch.randint(0, classes, (n,))
    images = 0.3 * torch.randn(n, 1, size, size)
    for img, c in zip(images, label):
        top, left = torch.randint(0, size - 4, (2,)).tolist()
        stripe = torch.sin(torch.arange(4.) * (c + 1)) + 1
        img[0, top:top + 4, left:left + 4] += stripe if c % 2 else stripe[:, None]
    return images, label


if __name__ == '__main__':
    FLAGS = argparse.ArgumentParser()
    FLAGS.add_argument('--num_classes', type=int, default=4)
    FLAGS.add_argument('--lr_class', type=float, default=0.03)
    FLAGS.add_argument('--lr_apn', type=float, default=0.5)
    FLAGS.add_argument('--margin', type=float, default=0.05)
    FLAGS.add_argument('--epochs', type=int, default=4)
    FLAGS.add_argument('--batch_size', type=int, default=16)
    args = FLAGS.parse_args()
    torch.manual_seed(31)
    Manager(args).train(birds(64, args.num_classes))
