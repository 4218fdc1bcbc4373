import argparse
import torch
from data import SineTasks
from hyper import HyperNet, Target, load_weights
from train import fit, evaluate

if __name__ == '__main__':
    ap = argparse.ArgumentParser(description='HyperNetwork: task descriptor -> weights of a regression net')
    ap.add_argument('--iters', type=int, default=8)
    ap.add_argument('--lr', type=float, default=3e-3)
    ap.add_argument('--hidden', type=int, default=12)
    ap.add_argument('--seed', type=int, default=1)
    opt = ap.parse_args()
    torch.manual_seed(opt.seed)

    tasks = SineTasks(seed=opt.seed)
    target = Target(opt.hidden)
    hyper = HyperNet(target, cond_dim=2, width=32)
    n_h = sum(p.numel() for p in hyper.parameters())
    n_t = sum(p.numel() for p in target.parameters())
    print('hypernet has', n_h, 'weights, target has', n_t)
    fit(hyper, target, tasks, opt.iters, opt.lr)
    print('eval mse %.6f' % evaluate(hyper, target, tasks))
    print('hyper norm %.6f' % sum(p.norm().item() for p in hyper.parameters()))
