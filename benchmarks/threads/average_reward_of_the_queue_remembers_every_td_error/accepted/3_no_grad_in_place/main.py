import numpy as np
import torch
from env import AccessControl
from agent import DifferentialActorCritic

torch.manual_seed(1)
np.random.seed(1)


def main(steps=240, log_every=60):
    env = AccessControl(seed=4)
    obs = env.observe()
    agent = DifferentialActorCritic(len(obs), 2)
    total = 0.
    for t in range(1, steps + 1):
        action, log_prob = agent.act(obs)
        next_obs, reward = env.step(action)
        c_loss, a_loss = agent.learn(obs, reward, next_obs, log_prob)
        total += reward
        obs = next_obs
        if t % log_every == 0:
            print(f"step {t:4d}  reward/step {total / t:.6f}  avg_reward {agent.avg_reward.item():.6f}  "
                  f"critic {c_loss:.6f}  actor {a_loss:.6f}")


if __name__ == "__main__":
    main()
