"""python main.py --num-steps 8 --max-segments 6"""
import argparse

import torch

from envs import DriftEnv
from model import ActorCritic
from train import train


def parse():
    p = argparse.ArgumentParser(description="A3C (one worker)")
    p.add_argument("--lr", type=float, default=0.003)
    p.add_argument("--gamma", type=float, default=0.95)
    p.add_argument("--gae-lambda", type=float, default=1.00)
    p.add_argument("--entropy-coef", type=float, default=0.01)
    p.add_argument("--value-loss-coef", type=float, default=0.5)
    p.add_argument("--max-grad-norm", type=float, default=50)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--num-steps", type=int, default=8)
    p.add_argument("--max-episode-length", type=int, default=20)
    p.add_argument("--max-segments", type=int, default=9)
    return p.parse_args()


if __name__ == "__main__":
    args = parse()
    torch.manual_seed(args.seed)
    env = DriftEnv(seed=args.seed, max_len=args.max_episode_length)
    model = ActorCritic(env.obs_dim, env.n_actions)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    train(args, env, model, optimizer)
