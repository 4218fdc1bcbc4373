import argparse

import torch

from longrange.potential import LongRangePotential
from longrange.model import EnergyModel
from longrange.frames import make_frames


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--epochs', type=int, default=2)
    p.add_argument('--lr', type=float, default=0.02)
    p.add_argument('--seed', type=int, default=4)
    args = p.parse_args()
    torch.manual_seed(args.seed)

    model = EnergyModel(species=3, potential=LongRangePotential())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    frames = make_frames()

    for epoch in range(args.epochs):
        err = 0.
        for frame in frames:
            optimizer.zero_grad()
            energy = model(frame.positions, frame.types, frame.cell)
            loss = (energy - frame.energy) ** 2 / len(frame.types)
            loss.backward(retain_graph=True)
            optimizer.step()
            err += loss.item()
        print('epoch %d: mse/atom %.6f smearing %.6f' % (epoch, err / len(frames), model.potential.smearing.item()))


if __name__ == '__main__':
    main()
