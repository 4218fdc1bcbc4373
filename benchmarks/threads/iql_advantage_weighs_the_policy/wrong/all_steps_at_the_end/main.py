"""python main.py --expectile 0.7 --beta 3.0"""
import argparse

import numpy as np
import torch

from iql import ImplicitQLearning
from nets import GaussianPolicy, TwinQ, ValueFunction


def make_dataset(n, state_dim, action_dim, rng):
    """stand-in for d4rl: noisy linear behaviour policy on a linear system"""
    A = 0.9 * np.eye(state_dim) + 0.05 * rng.normal(size=(state_dim, state_dim))
    B = 0.3 * rng.normal(size=(state_dim, action_dim))
    K = 0.5 * rng.normal(size=(action_dim, state_dim))
    s = rng.normal(size=(n, state_dim))
    a = np.tanh(s @ K.T + 0.4 * rng.normal(size=(n, action_dim)))
    s2 = s @ A.T + a @ B.T
    r = -(s2 ** 2).mean(1) - 0.1 * (a ** 2).mean(1)
    done = (rng.uniform(size=n) < 0.05).astype(np.float64)
    return [torch.as_tensor(x, dtype=torch.float32) for x in (s, a, r, s2, done)]


def main(args):
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    data = make_dataset(args.n_data, args.state_dim, args.action_dim, rng)
    agent = ImplicitQLearning(
        qf=TwinQ(args.state_dim, args.action_dim, args.hidden),
        vf=ValueFunction(args.state_dim, args.hidden),
        policy=GaussianPolicy(args.state_dim, args.action_dim, args.hidden),
        expectile=args.expectile,
        beta=args.beta,
        discount=args.discount,
        lr=args.lr,
    )
    for step in range(args.steps):
        idx = torch.as_tensor(rng.integers(0, args.n_data, size=args.batch_size))
        log = agent.update(*[x[idx] for x in data])
        if step % args.log_every == 0:
            print("step %d  v %.6f  q %.6f  pi %.6f" % (step, log["v_loss"], log["q_loss"], log["policy_loss"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--state-dim", type=int, default=5)
    parser.add_argument("--action-dim", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--n-data", type=int, default=400)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--log-every", type=int, default=3)
    parser.add_argument("--expectile", type=float, default=0.7)
    parser.add_argument("--beta", type=float, default=3.0)
    parser.add_argument("--discount", type=float, default=0.99)
    parser.add_argument("--lr", type=float, default=3e-3)
    main(parser.parse_args())
