from collections import OrderedDict

import torch
from torch.func import functional_call

from data import batches


def focal_loss(pred, target):
    # target: probabilities (one-hot for the primary task)
    return -(target * (1 - pred) ** 2 * torch.log(pred + 1e-20)).sum(1).mean()


def entropy_loss(prob):
    mean = prob.mean(0)
    return (mean * torch.log(mean + 1e-20)).sum()


class MaxlTrainer(object):

    def __init__(self, net, label_net, n_class, lr=0.05, gen_lr=0.02, entropy_weight=0.2):
        self.net = net
        self.label_net = label_net
        self.n_class = n_class
        self.lr = lr
        self.entropy_weight = entropy_weight
        self.optimizer = torch.optim.SGD(net.parameters(), lr=lr)
        self.gen_optimizer = torch.optim.SGD(label_net.parameters(), lr=gen_lr, momentum=0.9)

    def joint_loss(self, pred1, pred2, label, aux):
        onehot = torch.eye(self.n_class)[label]
        return focal_loss(pred1, onehot) + focal_loss(pred2, aux)

    def train_batch(self, x, label):
        onehot = torch.eye(self.n_class)[label]
        aux = self.label_net(x, label)

        # -- 1. the multi-task network learns primary and auxiliary labels
        pred1, pred2 = self.net(x)
        train_loss = self.joint_loss(pred1, pred2, label, aux)
        self.optimizer.zero_grad()
        train_loss.backward()
        self.optimizer.step()

        # -- 2. the label generator learns from the primary loss after one virtual step
        pred1, pred2 = self.net(x)
        virtual_loss = self.joint_loss(pred1, pred2, label, aux.detach())
        names, params = zip(*self.net.named_parameters())
        grads = torch.autograd.grad(virtual_loss, params, create_graph=True)
        fast = OrderedDict((n, p - self.lr * g) for n, p, g in zip(names, params, grads))

        meta_pred, _ = functional_call(self.net, fast, (x,))
        meta_loss = focal_loss(meta_pred, onehot) + self.entropy_weight * entropy_loss(self.label_net(x, label))
        self.gen_optimizer.zero_grad()
        meta_loss.backward()
        self.gen_optimizer.step()
        return train_loss.item(), meta_loss.item()

    def train_epoch(self, x, y, batch_size, epoch):
        total, n = [0.0, 0.0], 0
        for bx, by in batches(x, y, batch_size, epoch):
            a, b = self.train_batch(bx, by)
            total[0] += a
            total[1] += b
            n += 1
        return total[0] / n, total[1] / n

    @torch.no_grad()
    def test(self, x, y):
        pred, _ = self.net(x)
        return (pred.argmax(1) == y).float().mean().item()
