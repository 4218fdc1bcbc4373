import argparse
import tempfile

import torch

from odeplant import BogackiShampine, PlantField, TankRecords, Trainer


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=12)
    p.add_argument("--lr", type=float, default=8e-3)
    p.add_argument("--clip", type=float, default=1.0)
    p.add_argument("--stiffness", type=float, default=0.5)
    p.add_argument("--width", type=int, default=24)
    p.add_argument("--substeps", type=int, default=2)
    p.add_argument("--seed", type=int, default=17)
    return p.parse_args()


def main():
    args = parse()
    torch.manual_seed(args.seed)
    train = TankRecords(36, horizon=5.0, n_points=9, noise=0.01, seed=args.seed)
    valid = TankRecords(12, horizon=5.0, n_points=9, noise=0.01, seed=args.seed + 1)

    field = PlantField(2, args.width)
    solver = BogackiShampine(field, substeps=args.substeps)
    trainer = Trainer(field, solver, vars(args))
    with tempfile.TemporaryDirectory() as folder:
        trainer.fit(train, valid, folder)
    print(f"best {trainer.best:.6f} decay {field.log_decay.exp().detach().tolist()}")


if __name__ == "__main__":
    main()
