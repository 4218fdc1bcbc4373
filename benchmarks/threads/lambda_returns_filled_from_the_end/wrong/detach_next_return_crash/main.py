import torch

from actor_critic import ActorCritic, Config, Dynamics


def main():
    torch.manual_seed(8)
    cfg = Config()
    dyn = Dynamics(cfg)
    agent = ActorCritic(cfg)
    for i in range(6):
        start = torch.tanh(torch.randn(16, cfg.deter))   # posterior states from the replay buffer
        a, v, r = agent.train_step(dyn, start)
        print(f"{i}: actor {a:.6f} value {v:.6f} return {r:.6f}")


if __name__ == "__main__":
    main()
