"""Radial velocities: each exposure is a Doppler-shifted template times a continuum of its own."""
import argparse

import torch

from forward_model import SpectrumModel
from simulate import make_exposures


def chi2(model_flux, flux, ivar):
    return ((model_flux - flux).pow(2) * ivar).mean()


def run(args):
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    grid, template, wave, flux, ivar, v_true = make_exposures(args.n_exposures, args.seed)
    model = SpectrumModel(grid, template, wave, args.n_exposures)
    optimizer = torch.optim.Adam([
        {'params': [model.velocity], 'lr': 1.0},
        {'params': [model.continuum], 'lr': 0.02},
    ])
    for i in range(args.n_iter):
        optimizer.zero_grad()
        loss = chi2(model(), flux, ivar)
        loss.backward()
        optimizer.step()
        if (i + 1) % (args.n_iter // 4) == 0:
            print('iter %d  chi2 %.6f' % (i + 1, loss.item()))
    v = model.velocity.detach()
    print('rms error of the velocities %.6f km/s' % (v - v_true).pow(2).mean().sqrt().item())
    print('velocities ' + ' '.join('%.6f' % x for x in v.tolist()))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--n_exposures', type=int, default=5)
    parser.add_argument('--n_iter', type=int, default=60)
    parser.add_argument('--seed', type=int, default=13)
    run(parser.parse_args())
