import argparse

import torch

from approach import Appr
from network import Net


def make_task(t, n, directions):
    x = torch.randn(n, 10)
    return x, (x @ directions[t]).argmax(dim=1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="continual learning")
    parser.add_argument("--tasks", default=3, type=int)
    parser.add_argument("--nepochs", default=3, type=int)
    parser.add_argument("--seed", default=0, type=int)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    directions = torch.randn(args.tasks, 10, 3)
    net = Net(10, args.tasks, 3)
    appr = Appr(net, nepochs=args.nepochs)
    data = [(make_task(t, 96, directions), make_task(t, 48, directions)) for t in range(args.tasks)]
    for t, ((xtrain, ytrain), (xvalid, yvalid)) in enumerate(data):
        appr.train(t, xtrain, ytrain, xvalid, yvalid)
        for u in range(t + 1):
            loss, acc = appr.eval(u, *data[u][1])
            print(f"  after {t} test on {u}: loss {loss:.5f} acc {acc:.4f}")
