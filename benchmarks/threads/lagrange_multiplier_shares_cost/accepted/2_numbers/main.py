import torch

from safe.agent import Agent
from safe.config import Config
from safe.env import HazardGrid


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    agent, env = Agent(cfg), HazardGrid(cfg)
    for epoch in range(cfg.epochs):
        batch = env.collect(agent.pi)
        info = agent.update(batch)
        print(f"epoch {epoch} pi {info['pi']:.6f} cost {info['cost']:.6f} lambda {info['lam']:.6f}")


if __name__ == "__main__":
    main()
