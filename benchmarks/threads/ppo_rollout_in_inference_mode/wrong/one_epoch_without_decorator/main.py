"""RLHF in small: the reward model likes even tokens in ascending order."""
import copy

import torch

from policy import PolicyWithValueHead
from ppo import PPO


def reward_model(resp):
    even = (resp % 2 == 0).float().mean(1)
    asc = (resp[:, 1:] >= resp[:, :-1]).float().mean(1)
    return even + asc


def main():
    torch.manual_seed(23)
    policy = PolicyWithValueHead()
    ref = copy.deepcopy(policy).eval()
    trainer = PPO(policy, ref, reward_model)
    for it in range(3):
        prompts = torch.randint(0, 10, (12, 3))
        exp = trainer.rollout(prompts)
        stats = trainer.update(exp)
        print("iter", it, "score %.6f" % reward_model(exp.ids[:, 3:]).mean().item())
        for loss, ratio in stats:
            print("    loss %.6f ratio %.6f" % (loss, ratio))


if __name__ == "__main__":
    main()
