"""Map -> aerial photo translation (pix2pix style), small smoke configuration."""
import argparse

import torch
from torch.utils.data import DataLoader

from models.pix2pix import Pix2PixModel
from util.data import TilePairs
from util.gallery import Gallery


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--lambda_l1', type=float, default=50.0)
    parser.add_argument('--lr', type=float, default=2e-4)
    parser.add_argument('--beta1', type=float, default=0.5)
    parser.add_argument('--ngf', type=int, default=8)
    parser.add_argument('--n_epochs', type=int, default=2)
    parser.add_argument('--batch_size', type=int, default=4)
    parser.add_argument('--display_freq', type=int, default=3)
    parser.add_argument('--seed', type=int, default=49)
    return parser.parse_args()


def main():
    opt = parse()
    torch.manual_seed(opt.seed)
    loader = DataLoader(TilePairs(16, 16), batch_size=opt.batch_size, shuffle=True, drop_last=True)
    model = Pix2PixModel(opt)
    gallery = Gallery(columns=4)

    total_iters = 0
    for epoch in range(opt.n_epochs):
        for batch in loader:
            total_iters += 1
            model.set_input(batch)
            model.forward()
            if total_iters % opt.display_freq == 0:
                gallery.add(total_iters, model.get_current_visuals())
            model.optimize_parameters()
            losses = model.get_current_losses()
            print('(epoch %d, iter %d) ' % (epoch, total_iters) + ' '.join('%s: %.5f' % kv for kv in losses.items()))
        model.update_learning_rate()
    gallery.save()
    for step, brightness in gallery.summary():
        print('gallery %d brightness %.5f' % (step, brightness))


if __name__ == '__main__':
    main()
