import argparse


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--n_epochs', type=int, default=2)
    parser.add_argument('--iters', type=int, default=3)
    parser.add_argument('--ngf', type=int, default=8)
    parser.add_argument('--lambda_L1', type=float, default=10.0)
    parser.add_argument('--lr', type=float, default=0.002)
    parser.add_argument('--beta1', type=float, default=0.5)
    parser.add_argument('--seed', type=int, default=9)
    return parser.parse_args()
