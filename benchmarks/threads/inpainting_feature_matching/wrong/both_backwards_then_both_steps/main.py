import argparse
import random

import numpy as np
import torch

from src.dataset import Holes
from src.models import InpaintingModel


def load_config():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seed', type=int, default=10)
    parser.add_argument('--LR', type=float, default=0.002)
    parser.add_argument('--D2G_LR', type=float, default=0.5)
    parser.add_argument('--L1_LOSS_WEIGHT', type=float, default=1.0)
    parser.add_argument('--FM_LOSS_WEIGHT', type=float, default=5.0)
    parser.add_argument('--INPAINT_ADV_LOSS_WEIGHT', type=float, default=0.3)
    parser.add_argument('--MAX_ITERS', type=int, default=6)
    return parser.parse_args()


def main():
    config = load_config()
    torch.manual_seed(config.seed), np.random.seed(config.seed), random.seed(config.seed)
    model = InpaintingModel(config)
    for images, masks in Holes(config.MAX_ITERS):
        outputs, gen_loss, dis_loss, logs = model.process(images, masks)
        model.backward(gen_loss, dis_loss)
        print(model.iteration, ' '.join('%s: %.6f' % l for l in logs))


if __name__ == '__main__':
    main()
