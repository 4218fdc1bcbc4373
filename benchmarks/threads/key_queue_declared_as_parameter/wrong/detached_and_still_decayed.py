import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

'''
MoCo on toy vectors, 单卡版本 (no shuffle BN)
'''


class TwoCrops:
    def __init__(self, noise, drop, rng):
        self.noise, self.drop, self.rng = noise, drop, rng

    def one(self, x):
        keep = (self.rng.uniform(size=x.shape) > self.drop).astype(np.float32)
        return torch.from_numpy(((x + self.noise * self.rng.normal(size=x.shape)) * keep).astype(np.float32))

    def __call__(self, x):
        return self.one(x), self.one(x)


def base_encoder(num_classes):
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, num_classes))


class MoCo(nn.Module):
    """
    dim: feature dimension
    K: queue size, number of negative keys
    m: momentum of updating key encoder
    T: softmax temperature
    """

    def __init__(self, base_encoder, dim=8, K=48, m=0.98, T=0.2):
        super(MoCo, self).__init__()
        self.K, self.m, self.T = K, m, T
        self.encoder_q = base_encoder(num_classes=dim)
        self.encoder_k = base_encoder(num_classes=dim)
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data.copy_(param_q.data)  # initialize
            param_k.requires_grad = False  # not update by gradient

        # 负样本队列: a FIFO of past keys. registered so that it is saved with the model
        self.queue = nn.Parameter(F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _momentum_update_key_encoder(self):
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.mul_(self.m).add_(param_q, alpha=1. - self.m)

    @torch.no_grad()
    def _dequeue_and_enqueue(self, keys):
        batch_size = keys.shape[0]
        ptr = int(self.queue_ptr)
        assert self.K % batch_size == 0  # for simplicity
        self.queue[:, ptr:ptr + batch_size] = keys.T
        ptr = (ptr + batch_size) % self.K  # move pointer
        self.queue_ptr[0] = ptr

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self._momentum_update_key_encoder()
            k = F.normalize(self.encoder_k(im_k), dim=1)

        l_pos = torch.einsum('nc,nc->n', [q, k]).unsqueeze(-1)
        l_neg = torch.einsum('nc,ck->nk', [q, self.queue.clone().detach()])
        logits = torch.cat([l_pos, l_neg], dim=1)
        logits /= self.T
        labels = torch.zeros(logits.shape[0], dtype=torch.long)
        self._dequeue_and_enqueue(k)
        return logits, labels


class AverageMeter(object):
    def __init__(self, name):
        self.name, self.sum, self.count = name, 0., 0

    def update(self, val, n=1):
        self.sum += val * n
        self.count += n

    def __str__(self):
        return '%s %.6f' % (self.name, self.sum / self.count)


def accuracy(output, target):
    with torch.no_grad():
        return (output.argmax(1) == target).float().mean().item() * 100.


def adjust_learning_rate(optimizer, epoch, args):
    lr = args.lr * 0.5 * (1. + math.cos(math.pi * epoch / args.epochs))
    for param_group in optimizer.param_groups:
        param_group['lr'] = lr


def train(data, crops, model, criterion, optimizer, epoch, args):
    losses, top1 = AverageMeter('Loss'), AverageMeter('Acc@1')
    perm = crops.rng.permutation(len(data))
    for i in range(0, len(data), args.batch_size):
        im_q, im_k = crops(data[perm[i:i + args.batch_size]])
        output, target = model(im_q, im_k)
        loss = criterion(output, target)
        losses.update(loss.item(), im_q.size(0))
        top1.update(accuracy(output, target), im_q.size(0))
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
    print('Epoch [%d]' % epoch, losses, top1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', default=3, type=int)
    parser.add_argument('--batch-size', default=16, type=int)
    parser.add_argument('--lr', default=0.3, type=float)
    parser.add_argument('--momentum', default=0.9, type=float)
    parser.add_argument('--wd', default=1e-4, type=float)
    args = parser.parse_args([])
    torch.manual_seed(77)
    rng = np.random.RandomState(77)
    data = rng.normal(size=(6, 16))[rng.randint(0, 6, 64)] + 0.5 * rng.normal(size=(64, 16))
    model = MoCo(base_encoder)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=args.momentum, weight_decay=args.wd)
    model.queue.grad = torch.zeros_like(model.queue)
    crops = TwoCrops(0.2, 0.1, rng)
    for epoch in range(args.epochs):
        adjust_learning_rate(optimizer, epoch, args)
        train(data, crops, model, nn.CrossEntropyLoss(), optimizer, epoch, args)
    print('queue norm %.6f' % model.queue.norm().item())


if __name__ == '__main__':
    main()
