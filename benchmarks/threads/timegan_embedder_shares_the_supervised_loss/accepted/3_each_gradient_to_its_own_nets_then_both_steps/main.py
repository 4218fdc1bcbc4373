import argparse

import torch

from data import sine_prices
from timegan import TimeGAN


def get_options():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seq_len', type=int, default=8)
    parser.add_argument('--z_dim', type=int, default=3)
    parser.add_argument('--hidden_dim', type=int, default=8)
    parser.add_argument('--num_layer', type=int, default=2)
    parser.add_argument('--batch_size', type=int, default=16)
    parser.add_argument('--iteration_pre', type=int, default=4)
    parser.add_argument('--iteration', type=int, default=4)
    parser.add_argument('--lr', type=float, default=0.01)
    parser.add_argument('--w_gamma', type=float, default=1)
    parser.add_argument('--w_s', type=float, default=10)
    parser.add_argument('--w_g', type=float, default=10)
    parser.add_argument('--seed', type=int, default=7)
    return parser.parse_args()


if __name__ == '__main__':
    opt = get_options()
    torch.manual_seed(opt.seed)
    model = TimeGAN(opt, sine_prices(64, opt.seq_len, opt.z_dim, opt.seed))
    model.train()
    fake = model.generate(32)
    print('mean %.5f std %.5f' % (fake.mean().item(), fake.std().item()))
