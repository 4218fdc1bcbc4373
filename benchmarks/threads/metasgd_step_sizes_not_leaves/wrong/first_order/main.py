import argparse

import torch
from torch import nn

from metasgd import MetaSGD
from tasks import Sinusoids


def get_args():
    p = argparse.ArgumentParser("Meta-SGD on sinusoids")
    p.add_argument("--inner-lr", type=float, default=0.01, help="where the learned step sizes start")
    p.add_argument("--inner-steps", type=int, default=2)
    p.add_argument("--meta-lr", type=float, default=2e-3)
    p.add_argument("--alpha-lr", type=float, default=1e-3)
    p.add_argument("--meta-batch", type=int, default=4)
    p.add_argument("--iterations", type=int, default=12)
    p.add_argument("--hidden", type=int, default=24)
    p.add_argument("--seed", type=int, default=9)
    return p.parse_args()


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(
        nn.Linear(1, args.hidden), nn.Tanh(),
        nn.Linear(args.hidden, args.hidden), nn.Tanh(),
        nn.Linear(args.hidden, 1),
    )
    data = Sinusoids()
    held_out = data.batch(5)
    learner = MetaSGD(net, args)
    for it in range(args.iterations):
        loss = learner.meta_step(data.batch(args.meta_batch))
        if (it + 1) % 4 == 0:
            val = sum(learner.evaluate(t) for t in held_out) / len(held_out)
            print("iter %d meta loss %.5f held out %.5f" % (it + 1, loss, val))
    print("step sizes: mean %.6f min %.6f max %.6f" % learner.alpha_stats())


if __name__ == "__main__":
    main()
