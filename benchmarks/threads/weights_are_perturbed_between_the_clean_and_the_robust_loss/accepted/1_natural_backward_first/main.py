import argparse
import tempfile

import torch

from robust.attack import LinfPGD
from robust.awp import WeightPerturbation
from robust.net import sign_net
from robust.signs import make_signs
from robust.trainer import AWPTrainer

parser = argparse.ArgumentParser(description="AWP adversarial training on tiny traffic signs")
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--batch-size", type=int, default=40)
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--beta", type=float, default=1.0)
parser.add_argument("--eps", type=float, default=0.08)
parser.add_argument("--pgd-steps", type=int, default=3)
parser.add_argument("--gamma", type=float, default=0.02)
parser.add_argument("--seed", type=int, default=31)


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train = make_signs(160, seed=args.seed)
    test = make_signs(60, seed=args.seed + 1)

    model = sign_net()
    attack = LinfPGD(args.eps, args.eps / 3, args.pgd_steps)
    trainer = AWPTrainer(model, attack, WeightPerturbation(model, args.gamma), args)
    with tempfile.TemporaryDirectory() as out_dir:
        trainer.fit(train, test, out_dir)


if __name__ == "__main__":
    main()
