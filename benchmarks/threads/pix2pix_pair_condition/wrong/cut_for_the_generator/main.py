import argparse

import torch

from models.translation import TranslationModel


def get_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n_iter", type=int, default=6)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--lambda_L1", type=float, default=5.0)
    return parser.parse_args()


if __name__ == "__main__":
    opt = get_options()
    torch.manual_seed(439)
    model = TranslationModel(opt)
    target = torch.randn(6, 6) / 2
    for i in range(opt.n_iter):
        A = torch.randn(opt.batch_size, 6)
        model.set_input({"A": A, "B": torch.tanh(A @ target)})
        model.optimize_parameters()
        if i % 2 == 1:
            print("iter %d  D %.6f  G %.6f" % (i, model.loss_D.item(), model.loss_G.item()))
