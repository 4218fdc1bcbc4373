import argparse

import torch

from signals.data import batches
from signals.model import Decoder
from signals.metrics import concordance, nrmse


def parse():
    ap = argparse.ArgumentParser("decode")
    ap.add_argument("-n", "--iters", type=int, default=6)
    ap.add_argument("--lr", type=float, default=5e-3)
    return ap.parse_args()


def main(args):
    torch.manual_seed(9)
    net = Decoder()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    for x, y in batches(args.iters):
        out = net(x)
        loss = 1 - concordance(out, y) + 0.2 * nrmse(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"{loss.item():.6f}")


main(parse())
