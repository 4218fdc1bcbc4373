"""Meta-learned super-resolution of signals: only the tail adapts to a task, everything is meta-trained."""
import argparse

import torch
import torch.nn.functional as F

from meta import MAML
from model import SRNet
from tasks import SignalTasks


def fast_adapt(learner, task, steps):
    (low, high), (low_q, high_q) = task
    # the meta block is the shared prior, it must not change within a task
    for _ in range(steps):
        learner.adapt(F.l1_loss(learner(low), high), frozen="meta_block")
    return F.l1_loss(learner(low_q), high_q)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=6)
    parser.add_argument("--tasks", type=int, default=3)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--fast-lr", type=float, default=0.2)
    parser.add_argument("--meta-lr", type=float, default=5e-3)
    parser.add_argument("--seed", type=int, default=17)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    maml = MAML(SRNet(), lr=args.fast_lr)
    opt = torch.optim.Adam(maml.module.parameters(), lr=args.meta_lr)
    tasks = SignalTasks()

    for it in range(args.iterations):
        opt.zero_grad()
        total = 0.0
        for _ in range(args.tasks):
            loss = fast_adapt(maml.clone(), tasks.sample(), args.steps)
            (loss / args.tasks).backward()
            total += loss.item() / args.tasks
        opt.step()
        norm = sum(p.grad.norm().item() for p in maml.module.meta_block.parameters() if p.grad is not None)
        print(f"iteration {it} query loss {total:.6f} meta block gradient {norm:.6f}")


if __name__ == "__main__":
    main()
