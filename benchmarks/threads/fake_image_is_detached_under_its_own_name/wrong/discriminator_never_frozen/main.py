import argparse

import numpy as np
import torch

from pix2pix_model import Pix2PixModel


def make_pairs(n, size, rng):
    """A: filled boxes, B: their outlines"""
    A = -np.ones((n, 1, size, size), dtype=np.float32)
    B = -np.ones((n, 1, size, size), dtype=np.float32)
    for i in range(n):
        y, x = rng.randint(1, size // 2, 2)
        h, w = rng.randint(4, size // 2, 2)
        A[i, 0, y:y + h, x:x + w] = 1
        B[i, 0, y, x:x + w] = 1
        B[i, 0, y + h - 1, x:x + w] = 1
        B[i, 0, y:y + h, x] = 1
        B[i, 0, y:y + h, x + w - 1] = 1
    return torch.from_numpy(A), torch.from_numpy(B)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--n_pairs', type=int, default=32)
    parser.add_argument('--size', type=int, default=16)
    parser.add_argument('--batch_size', type=int, default=8)
    parser.add_argument('--n_epochs', type=int, default=5)
    parser.add_argument('--lr', type=float, default=2e-3)
    parser.add_argument('--lambda_L1', type=float, default=10.0)
    parser.add_argument('--lambda_FM', type=float, default=1.0)
    parser.add_argument('--seed', type=int, default=7)
    opt = parser.parse_args()

    torch.manual_seed(opt.seed)
    A, B = make_pairs(opt.n_pairs, opt.size, np.random.RandomState(opt.seed))
    model = Pix2PixModel(opt)
    for epoch in range(opt.n_epochs):
        for i in range(0, opt.n_pairs, opt.batch_size):
            model.set_input((A[i:i + opt.batch_size], B[i:i + opt.batch_size]))
            model.optimize_parameters()
        msg = ' '.join('%s: %.6f' % kv for kv in model.get_current_losses().items())
        print('(epoch: %d) %s' % (epoch, msg))
    with torch.no_grad():
        print('final L1 %.6f' % (model.netG(A) - B).abs().mean().item())
