import argparse
import math

import torch
import torch.nn as nn

from moco_builder import MoCo

parser = argparse.ArgumentParser(description='MoCo on toy signals')
parser.add_argument('--epochs', default=2, type=int)
parser.add_argument('-b', '--batch-size', default=8, type=int)
parser.add_argument('--lr', default=0.1, type=float)
parser.add_argument('--moco-k', default=32, type=int)
parser.add_argument('--cos', action='store_true')
parser.add_argument('--seed', default=1, type=int)


def encoder(dim):
    return nn.Sequential(nn.Conv1d(1, 8, 5, stride=2), nn.ReLU(), nn.Conv1d(8, 8, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 5, dim))


class TwoCropsTransform:
    def __init__(self, gen):
        self.gen = gen

    def __call__(self, x):
        one = x + 0.1 * torch.randn(x.shape, generator=self.gen)
        two = x.roll(int(torch.randint(-3, 4, (1,), generator=self.gen)), dims=-1) * 0.9
        return one, two


def adjust_learning_rate(optimizer, epoch, args):
    lr = args.lr
    if args.cos:
        lr *= 0.5 * (1. + math.cos(math.pi * epoch / args.epochs))
    for group in optimizer.param_groups:
        group['lr'] = lr


def train(batches, crops, model, criterion, optimizer, epoch):
    for i, x in enumerate(batches):
        im_q, im_k = crops(x)
        output, target = model(im_q, im_k)
        loss = criterion(output, target)
        acc1 = (output.argmax(1) == target).float().mean()
        optimizer.zero_grad()
        loss.backward()
        model._dequeue_and_enqueue(model.last_keys)
        optimizer.step()
        print(f'Epoch: [{epoch}][{i}] Loss {loss.item():.5f} Acc@1 {100 * acc1.item():.2f}')


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed + 1)
    t = torch.linspace(0, 6.28, 32)
    data = torch.stack([torch.sin(t * f + f) + 0.3 * torch.cos(3 * t * f) for f in torch.linspace(1, 4, 4 * args.batch_size)]).unsqueeze(1)
    model = MoCo(encoder, K=args.moco_k)
    optimizer = torch.optim.SGD(model.encoder_q.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
    for epoch in range(args.epochs):
        adjust_learning_rate(optimizer, epoch, args)
        perm = torch.randperm(len(data), generator=gen)
        train(data[perm].split(args.batch_size), TwoCropsTransform(gen), model, nn.CrossEntropyLoss(), optimizer, epoch)


if __name__ == '__main__':
    main()
