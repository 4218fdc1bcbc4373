import argparse

import torch

from pix2pix_wgan import Pix2PixWGANModel


def get_options():
    p = argparse.ArgumentParser()
    p.add_argument('--direction', type=str, default='AtoB')
    p.add_argument('--input_nc', type=int, default=1)
    p.add_argument('--output_nc', type=int, default=2)
    p.add_argument('--ngf', type=int, default=8)
    p.add_argument('--ndf', type=int, default=8)
    p.add_argument('--lr', type=float, default=1e-3)
    p.add_argument('--beta1', type=float, default=0.5)
    p.add_argument('--n_critic', type=int, default=3)
    p.add_argument('--lambda_gp', type=float, default=10.0)
    p.add_argument('--lambda_L1', type=float, default=20.0)
    p.add_argument('--niter', type=int, default=5)
    return p.parse_args()


def fake_dataset(n, size=16):
    """edges -> two channels, nothing on disk"""
    g = torch.Generator().manual_seed(11)
    for _ in range(n):
        b = torch.tanh(torch.randn(4, 2, size, size, generator=g))
        yield {'A': (b.mean(1, keepdim=True).abs() > 0.4).float(), 'B': b}


if __name__ == '__main__':
    torch.manual_seed(3)
    opt = get_options()
    model = Pix2PixWGANModel(opt)
    for i, data in enumerate(fake_dataset(opt.niter)):
        model.set_input(data)
        model.optimize_parameters()
        print('iter %d ' % i + ' '.join('%s: %.4f' % kv for kv in model.current_losses().items()))
