import argparse

import torch
import torch.nn.functional as F

from data import blobs
from model import build_net, prunable_layers
from snip import snip

ap = argparse.ArgumentParser()
ap.add_argument('--keep-ratio', type=float, default=0.2)
ap.add_argument('--epochs', type=int, default=6)
ap.add_argument('--batch-size', type=int, default=32)
ap.add_argument('--lr', type=float, default=0.1)
opt = ap.parse_args()

torch.manual_seed(3)
x, y = blobs(192)
net = build_net()

keep_masks = snip(net, opt.keep_ratio, x[:64], y[:64])
for layer, keep in zip(prunable_layers(net), keep_masks):
    layer.weight_mask.requires_grad_(False)
    layer.weight_mask.data.copy_(keep)
    print('kept %d of %d' % (int(keep.sum()), keep.numel()))

params = [p for p in net.parameters() if p.requires_grad]
optimizer = torch.optim.SGD(params, lr=opt.lr, momentum=0.9)

for epoch in range(opt.epochs):
    perm = torch.randperm(len(x))
    total, hits = 0.0, 0
    for i in range(0, len(x), opt.batch_size):
        idx = perm[i:i + opt.batch_size]
        optimizer.zero_grad()
        out = net(x[idx])
        loss = F.cross_entropy(out, y[idx])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
        hits += (out.argmax(1) == y[idx]).sum().item()
    print('epoch %d loss %.6f acc %.6f' % (epoch, total / len(x), hits / len(x)))
