import argparse

import torch

from sdf.fields import ColorNet, SDFNet
from sdf.train import Runner

if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--igr_weight', type=float, default=0.1)
    p.add_argument('--lr', type=float, default=5e-3)
    p.add_argument('--iters', type=int, default=8)
    a = p.parse_args()
    torch.manual_seed(50)
    runner = Runner(SDFNet(hidden=24, n_feat=6), ColorNet(n_feat=6), a.lr, a.igr_weight)
    for it in range(a.iters):
        stats = runner.train_step(n=40)
        if it % 2:
            print(it, ' '.join(f'{k} {v:.6f}' for k, v in stats.items()))
