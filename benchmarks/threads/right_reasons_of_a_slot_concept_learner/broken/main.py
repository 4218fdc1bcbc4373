"""Interactive correction of a concept learner: the user says which concepts must not matter."""
import argparse

import torch

from xil.data import CorrectedScenes
from xil.model import ConceptLearner
from xil.trainer import run_epoch, evaluate


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--bs", type=int, default=12)
    p.add_argument("--n-scenes", type=int, default=48)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--lambda-expl", type=float, default=4.0)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    scenes = CorrectedScenes(args.n_scenes)
    net = ConceptLearner(n_feat=scenes.n_feat, n_slots=4, n_concepts=scenes.n_concepts, n_classes=3)
    net.freeze_perception()
    trainable = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=args.lr)
    for epoch in range(args.epochs):
        stats = run_epoch(net, scenes, optimizer, args)
        print("epoch %d  pred %.5f  expl %.5f" % (epoch, stats["pred"], stats["expl"]))
    print("attention on forbidden concepts %.5f" % evaluate(net, scenes, args.bs))


if __name__ == "__main__":
    main()
