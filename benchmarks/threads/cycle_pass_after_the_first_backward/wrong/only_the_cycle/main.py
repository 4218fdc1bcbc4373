"""Tiny lifespan autoencoder: the net sees an image and a target age, and returns the aged image."""
import argparse
import torch
from coach import Coach
from networks import AgeNet

parser = argparse.ArgumentParser()
parser.add_argument('--steps', type=int, default=8)
parser.add_argument('--cycle_lambda', type=float, default=0.7)
parser.add_argument('--id_lambda', type=float, default=0.2)
parser.add_argument('--aging_lambda', type=float, default=1.5)
parser.add_argument('--latent_lambda', type=float, default=0.01)


def main():
    opts = parser.parse_args()
    torch.manual_seed(21)
    net = AgeNet(pixels=12, latent=6)
    coach = Coach(net, opts)
    faces = torch.rand(8 * opts.steps, 12)
    for step in range(opts.steps):
        x = faces[step * 8:(step + 1) * 8]
        losses = coach.train_step(x)
        print(step, ' '.join('%s=%.6f' % kv for kv in losses.items()))


if __name__ == '__main__':
    main()
