import argparse

import torch

from agent import Agent
from env import PushEnv
from model import LatentModel
from planner import GradientPlanner

parser = argparse.ArgumentParser()
parser.add_argument("--episodes", type=int, default=3)
parser.add_argument("--length", type=int, default=6)
parser.add_argument("--seed", type=int, default=5)


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    env = PushEnv(args.seed)
    model = LatentModel(env.obs_dim)
    agent = Agent(model, GradientPlanner(model.act_dim), env)
    for ep in range(args.episodes):
        paid, cons = agent.episode(args.length)
        print(f"episode {ep}: mean cost {paid:.5f}  consistency {cons:.6f}")
    print(f"encoder norm {sum(p.norm().item() for p in model.encoder.parameters()):.5f}")


if __name__ == "__main__":
    main()
