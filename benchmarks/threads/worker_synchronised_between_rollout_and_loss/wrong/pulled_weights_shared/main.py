import argparse

import torch

from model import ActorCritic
from worker import Worker


class SharedAdam(torch.optim.Adam):
    """state is made at once so that workers could share it"""

    def __init__(self, params, lr=1e-3, betas=(0.92, 0.999)):
        super().__init__(params, lr=lr, betas=betas)


def main():
    parser = argparse.ArgumentParser(description="A3C (workers take turns in one process, for debugging)")
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--gamma", type=float, default=0.9)
    parser.add_argument("--update-global-iter", type=int, default=6)
    parser.add_argument("--num-workers", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--entropy-coef", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    gnet = ActorCritic(4, 2)
    opt = SharedAdam(gnet.parameters(), lr=args.lr)
    workers = [Worker(gnet, opt, f"w{i:02d}", args) for i in range(args.num_workers)]
    for r in range(args.rounds):
        for w in workers:
            loss, reward = w.work()
            print(f"{w.name} round {r} loss {loss:.6f} reward {reward:.6f}")


if __name__ == "__main__":
    main()
