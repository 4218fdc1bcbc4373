# -*- coding: utf-8 -*-
# 小样本双目深度：多尺度损失
import torch
from net import TinyStereo
from objective import Objective

torch.manual_seed(7)


def batches(n):
    g = torch.Generator().manual_seed(1)
    for _ in range(n):
        left = torch.rand(4, 1, 16, 32, generator=g)
        shift = 2
        right = torch.roll(left, -shift, dims=3)
        yield left, right, torch.full((4, 1, 16, 32), float(shift)) + 0.3 * left


def main():
    model = TinyStereo()
    objective = Objective(weights=(1.0, 0.5, 0.25))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for i, (left, right, disp) in enumerate(batches(8)):
        pyramid = model(left, right)
        loss, log = objective(pyramid, disp)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print('iter %d' % i, ' '.join('%s=%.4f' % kv for kv in log.items()))


if __name__ == '__main__':
    main()
