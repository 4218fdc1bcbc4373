import argparse
import torch
from melu.config import config
from melu.data import Movies
from melu.MeLU import MeLU


def training(melu, total_dataset, batch_size, num_epoch):
    for epoch in range(num_epoch):
        for i in range(0, len(total_dataset), batch_size):
            loss = melu.global_update(total_dataset[i:i + batch_size])
            print('epoch %d batch %d loss %.6f' % (epoch, i // batch_size, loss))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--seed', type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    training(MeLU(config), Movies(config).users(9), 3, args.epochs)
