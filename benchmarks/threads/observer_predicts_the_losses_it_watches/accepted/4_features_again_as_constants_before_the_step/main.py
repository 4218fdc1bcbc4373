import argparse
import torch
from data import pool
from nets import TargetNet, LossNet
from train import ActiveTrainer

if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--cycles', type=int, default=2)
    p.add_argument('--steps', type=int, default=8)
    p.add_argument('--margin', type=float, default=1.0)
    args = p.parse_args()

    torch.manual_seed(3)
    x, y = pool(400)
    trainer = ActiveTrainer(TargetNet(), LossNet(), args)
    labelled = list(range(64))
    for c in range(args.cycles):
        for s in range(args.steps):
            idx = [labelled[(s * 32 + k) % len(labelled)] for k in range(32)]
            a, b = trainer.step(x[idx], y[idx])
        rest = [i for i in range(400) if i not in set(labelled)]
        scores = trainer.score(x[rest])
        best = scores.topk(32).indices.tolist()
        labelled += [rest[i] for i in best]
        print(f'cycle {c}: task {a:.5f} module {b:.5f} hardest {scores.max():.5f}')
