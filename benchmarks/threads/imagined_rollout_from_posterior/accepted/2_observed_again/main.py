import torch

from dreamer import Dreamer


def main():
    torch.manual_seed(33)
    agent = Dreamer()
    for epoch in range(5):
        obs, act = torch.randn(6, 4, 5), torch.rand(6, 4, 1) * 2 - 1
        logs = agent.train_batch(obs, act, reward=obs[..., 0] * act[..., 0])
    print(" ".join(f"{k}={v:.6f}" for k, v in logs.items()))


if __name__ == "__main__":
    main()
