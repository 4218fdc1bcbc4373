"""GFlowNet on a small grid, modified detailed balance (every state can stop)."""
from dataclasses import dataclass

import torch

from grid import Grid
from policies import BackwardPolicy, ForwardPolicy
from trainer import GFNTrainer


@dataclass
class Args:
    side: int = 5
    dims: int = 2
    n_envs: int = 12
    length: int = 5
    iterations: int = 4
    hidden: int = 24
    lr_f: float = 5e-3
    lr_b: float = 2e-3
    seed: int = 14


def main(args):
    torch.manual_seed(args.seed)
    env = Grid(args.side, args.dims, args.n_envs)
    forward = ForwardPolicy(env.obs_dim, args.dims, args.hidden)
    backward = BackwardPolicy(env.obs_dim, args.dims, args.hidden)
    trainer = GFNTrainer(env, forward, backward, args.lr_f, args.lr_b)
    for it in range(args.iterations):
        losses = trainer.trajectory(args.length)
        print(f"iteration {it} balance {sum(losses) / len(losses):.6f} steps {len(losses)} "
              f"reward {env.log_reward().exp().mean().item():.5f}")


if __name__ == "__main__":
    main(Args())
