import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def rand_bbox(rng, size, lam):
    cut = int(size * np.sqrt(1. - lam))
    cx, cy = rng.randint(size), rng.randint(size)
    x1, x2 = np.clip([cx - cut // 2, cx + cut // 2], 0, size)
    y1, y2 = np.clip([cy - cut // 2, cy + cut // 2], 0, size)
    return int(x1), int(x2), int(y1), int(y2)


def get_model():
    return nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.Softplus(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(6 * 16, 4))


def train(args):
    torch.manual_seed(args.seed)
    rng = np.random.RandomState(args.seed)
    model, criterion = get_model(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, nesterov=True)
    patterns = torch.randn(4, 1, 8, 8)
    for i in range(args.iters):
        target = torch.randint(4, (8,))
        input = patterns[target] + 0.3 * torch.randn(8, 1, 8, 8)
        if rng.rand() < args.cutmix_prob:
            # generate mixed sample
            lam = rng.beta(args.beta, args.beta)
            rand_index = torch.randperm(8)
            target_b = target[rand_index]
            x1, x2, y1, y2 = rand_bbox(rng, 8, lam)
            input[:, :, x1:x2, y1:y2] = input[rand_index, :, x1:x2, y1:y2]
            lam = 1 - (x2 - x1) * (y2 - y1) / 64
            input.requires_grad_(True)
            output = model(input)
            loss = lam * criterion(output, target) + (1 - lam) * criterion(output, target_b)
        else:
            input.requires_grad_(True)
            output = model(input)
            loss = criterion(output, target)
        grad, = torch.autograd.grad(loss, input, create_graph=True)
        penalty = grad.flatten(1).norm(dim=1).mean()
        optimizer.zero_grad()
        (loss + args.penalty * penalty).backward()
        optimizer.step()
        print('iter %d loss %.6f penalty %.6f' % (i, loss.item(), penalty.item()))


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--iters', type=int, default=6)
    p.add_argument('--lr', type=float, default=0.05)
    p.add_argument('--beta', type=float, default=1.0)
    p.add_argument('--cutmix_prob', type=float, default=0.7)
    p.add_argument('--penalty', type=float, default=5.0)
    p.add_argument('--seed', type=int, default=3)
    train(p.parse_args())
