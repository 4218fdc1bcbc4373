import argparse
import random

import numpy as np
import torch

from fewshot.anil import ANIL
from fewshot.tasks import SineMixTasks


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def get_args():
    ap = argparse.ArgumentParser(description="first-order ANIL on few-shot classification of short sensor traces")
    ap.add_argument("--ways", type=int, default=4)
    ap.add_argument("--shots", type=int, default=3)
    ap.add_argument("--queries", type=int, default=5)
    ap.add_argument("--meta-batch", type=int, default=3)
    ap.add_argument("--iters", type=int, default=6)
    ap.add_argument("--inner-steps", type=int, default=4)
    ap.add_argument("--inner-lr", type=float, default=0.4)
    ap.add_argument("--meta-lr", type=float, default=4e-3)
    ap.add_argument("--eval-every", type=int, default=2)
    ap.add_argument("--seed", type=int, default=7)
    return ap.parse_args()


def main():
    args = get_args()
    set_seed(args.seed)
    train_tasks = SineMixTasks(args.ways, args.shots, args.queries, seed=args.seed)
    test_tasks = SineMixTasks(args.ways, args.shots, args.queries, seed=args.seed + 1000)
    held_out = [test_tasks.sample() for _ in range(3)]

    learner = ANIL(args.ways, inner_lr=args.inner_lr, inner_steps=args.inner_steps, meta_lr=args.meta_lr)
    for it in range(args.iters):
        tasks = [train_tasks.sample() for _ in range(args.meta_batch)]
        stats = learner.meta_step(tasks)
        print("iter %d  support %.6f  query %.6f  acc %.4f  |g| %.6f"
              % (it, stats["support"], stats["query"], stats["acc"], stats["grad_norm"]))
        if (it + 1) % args.eval_every == 0:
            loss, acc = learner.evaluate(held_out)
            print("   held-out tasks: loss %.6f  acc %.4f" % (loss, acc))


if __name__ == "__main__":
    main()
