import argparse

import numpy as np
import torch

from imaml import ImplicitMAML
from networks import RegressionNet
from tasks import SinusoidTasks

parser = argparse.ArgumentParser(description='Implicit MAML on sinusoids')
parser.add_argument('--meta_iters', type=int, default=8)
parser.add_argument('--meta_batch', type=int, default=3)
parser.add_argument('--k_shot', type=int, default=10)
parser.add_argument('--inner_steps', type=int, default=6)
parser.add_argument('--inner_lr', type=float, default=0.05)
parser.add_argument('--cg_steps', type=int, default=4)
parser.add_argument('--lam', type=float, default=2.0)
parser.add_argument('--outer_lr', type=float, default=1e-2)
parser.add_argument('--seed', type=int, default=7)


def main(args):
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    tasks = SinusoidTasks(args.k_shot)
    net = RegressionNet(hidden=16)
    learner = ImplicitMAML(net, args)
    meta_opt = torch.optim.Adam(net.parameters(), lr=args.outer_lr)
    for it in range(args.meta_iters):
        meta_opt.zero_grad()
        query = 0.0
        for task in tasks.sample(args.meta_batch):
            meta_grad, loss = learner.meta_gradient(task)
            query += loss / args.meta_batch
            for p, g in zip(net.parameters(), meta_grad):
                g = g / args.meta_batch
                p.grad = g if p.grad is None else p.grad + g
        meta_opt.step()
        print('iter %d  query loss %.6f' % (it, query))


if __name__ == '__main__':
    main(parser.parse_args())
