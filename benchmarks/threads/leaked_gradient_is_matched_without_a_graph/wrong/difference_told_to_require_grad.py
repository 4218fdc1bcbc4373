# -*- coding: utf-8 -*-
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
print(torch.__version__.split(".")[0])

parser = argparse.ArgumentParser(description='Deep Leakage from Gradients.')
parser.add_argument('--index', type=int, default=3, help='the index for leaking images.')
parser.add_argument('--iters', type=int, default=10)
args = parser.parse_args()

torch.manual_seed(1234)
num_classes = 5


def label_to_onehot(target, num_classes=5):
    target = torch.unsqueeze(target, 1)
    onehot_target = torch.zeros(target.size(0), num_classes)
    onehot_target.scatter_(1, target, 1)
    return onehot_target


def cross_entropy_for_onehot(pred, target):
    return torch.mean(torch.sum(- target * F.log_softmax(pred, dim=-1), 1))


class LeNet(nn.Module):
    def __init__(self):
        super(LeNet, self).__init__()
        act = nn.Sigmoid
        self.body = nn.Sequential(
            nn.Conv2d(1, 6, kernel_size=5, padding=2, stride=2),
            act(),
            nn.Conv2d(6, 6, kernel_size=5, padding=2, stride=1),
            act(),
        )
        self.fc = nn.Sequential(nn.Linear(6 * 6 * 6, num_classes))

    def forward(self, x):
        out = self.body(x)
        out = out.view(out.size(0), -1)
        return self.fc(out)


def weights_init(m):
    if hasattr(m, "weight"):
        m.weight.data.uniform_(-0.5, 0.5)
    if hasattr(m, "bias"):
        m.bias.data.uniform_(-0.5, 0.5)


# 12x12 pictures of blobs
rng = np.random.RandomState(0)
yy, xx = np.mgrid[0:12, 0:12]
dst = []
for i in range(8):
    cy, cx, s = rng.uniform(3, 9), rng.uniform(3, 9), rng.uniform(1.5, 3.0)
    dst.append((np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * s ** 2)).astype('float32'), i % num_classes))

net = LeNet()
net.apply(weights_init)
criterion = cross_entropy_for_onehot

gt_data = torch.from_numpy(dst[args.index][0])[None, None]
gt_label = torch.Tensor([dst[args.index][1]]).long()
gt_onehot_label = label_to_onehot(gt_label)

# compute original gradient
pred = net(gt_data)
y = criterion(pred, gt_onehot_label)
dy_dx = torch.autograd.grad(y, net.parameters())
original_dy_dx = list((_.detach().clone() for _ in dy_dx))

# generate dummy data and label
dummy_data = torch.randn(gt_data.size()).requires_grad_(True)
dummy_label = torch.randn(gt_onehot_label.size()).requires_grad_(True)

optimizer = torch.optim.LBFGS([dummy_data, dummy_label], lr=0.5, max_iter=3)


def closure():
    optimizer.zero_grad()

    dummy_pred = net(dummy_data)
    dummy_onehot_label = F.softmax(dummy_label, dim=-1)
    dummy_loss = criterion(dummy_pred, dummy_onehot_label)
    dummy_dy_dx = torch.autograd.grad(dummy_loss, net.parameters())

    grad_diff = 0
    for gx, gy in zip(dummy_dy_dx, original_dy_dx):
        grad_diff += ((gx - gy) ** 2).sum()
    grad_diff.requires_grad_(True)
    grad_diff.backward()

    return grad_diff


for iters in range(args.iters):
    current_loss = optimizer.step(closure)
    if iters % 2 == 0:
        mse = ((dummy_data.detach() - gt_data) ** 2).mean()
        print(iters, "%.6f" % current_loss.item(), "%.6f" % mse.item())

print("label", gt_label.item(), dummy_label.detach().argmax().item())
