import argparse

import numpy as np
import torch

from a2c import A2C
from env import VecPendulumLike


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=6)
    parser.add_argument("--n-envs", type=int, default=6)
    parser.add_argument("--n-steps", type=int, default=10)
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--lr-pi", type=float, default=3e-3)
    parser.add_argument("--lr-vf", type=float, default=1e-2)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--lam", type=float, default=0.9)
    parser.add_argument("--vf-coef", type=float, default=0.5)
    parser.add_argument("--ent-coef", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    env = VecPendulumLike(args.n_envs, np.random.default_rng(args.seed))
    agent = A2C(env, args)
    for update in range(args.updates):
        info = agent.update()
        print("update {} reward {:.5f} pi {:.6f} vf {:.6f} ent {:.6f}".format(update, *info))
