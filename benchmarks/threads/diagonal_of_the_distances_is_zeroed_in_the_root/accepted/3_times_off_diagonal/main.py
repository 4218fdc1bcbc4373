import argparse

import torch
import torch.optim as optim

from data import birds
from loss import HardTriplet, RkdDistance, RKdAngle, pdist
from net import Embedding

parser = argparse.ArgumentParser()
parser.add_argument('--epochs', default=4, type=int)
parser.add_argument('--teacher_steps', default=40, type=int)
parser.add_argument('--batch', default=30, type=int)
parser.add_argument('--lr', default=5e-3, type=float)
parser.add_argument('--triplet_ratio', default=1, type=float)
parser.add_argument('--dist_ratio', default=20, type=float)
parser.add_argument('--angle_ratio', default=40, type=float)
opts = parser.parse_args()

triplet_criterion = HardTriplet()
dist_criterion = RkdDistance()
angle_criterion = RKdAngle()


def recall_at_1(net, x, y):
    net.eval()
    with torch.no_grad():
        d = pdist(net(x), squared=True)
        d = d + torch.eye(len(x)) * 1e3
        hit = y[d.argmin(1)] == y
    return hit.float().mean().item()


def train_teacher(x, y):
    torch.manual_seed(0)
    teacher = Embedding(24, 64, 32, l2=False)
    optimizer = optim.Adam(teacher.parameters(), lr=opts.lr)
    for _ in range(opts.teacher_steps):
        idx = torch.randperm(len(x))[:60]
        loss = triplet_criterion(teacher(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return teacher.eval()


def train(student, teacher, x, y, optimizer, ep):
    student.train()
    dist_all, angle_all, triplet_all = [], [], []
    perm = torch.randperm(len(x))
    for i in range(0, len(x), opts.batch):
        images, labels = x[perm[i:i + opts.batch]], y[perm[i:i + opts.batch]]
        e = student(images)
        with torch.no_grad():
            t_e = teacher(images)

        triplet_loss = opts.triplet_ratio * triplet_criterion(e, labels)
        dist_loss = opts.dist_ratio * dist_criterion(e, t_e)
        angle_loss = opts.angle_ratio * angle_criterion(e, t_e)
        loss = triplet_loss + dist_loss + angle_loss

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        triplet_all.append(triplet_loss.item())
        dist_all.append(dist_loss.item())
        angle_all.append(angle_loss.item())

    mean = lambda v: sum(v) / len(v)
    print('[Train][Epoch %d] Triplet: %.6f, Dist: %.6f, Angle: %.6f' %
          (ep, mean(triplet_all), mean(dist_all), mean(angle_all)))


if __name__ == '__main__':
    x, y = birds()
    vx, vy = birds(per_class=15)
    teacher = train_teacher(x, y)
    print('[Teacher] recall@1 %.6f' % recall_at_1(teacher, vx, vy))

    torch.manual_seed(1)
    student = Embedding(24, 16, 8)
    optimizer = optim.Adam(student.parameters(), lr=opts.lr)
    for ep in range(1, opts.epochs + 1):
        train(student, teacher, x, y, optimizer, ep)
    print('[Student] recall@1 %.6f' % recall_at_1(student, vx, vy))
