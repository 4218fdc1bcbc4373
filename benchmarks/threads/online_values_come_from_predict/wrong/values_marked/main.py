import argparse
import random

import numpy as np
import torch

from agent import TradingAgent
from env import SineMarket


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--episodes", type=int, default=5)
    ap.add_argument("--window", type=int, default=6)
    ap.add_argument("--batch-size", type=int, default=16)
    a = ap.parse_args()
    seed_all(21)

    env = SineMarket(window=a.window, length=30)
    agent = TradingAgent(env.state_size, env.n_actions)
    for episode in range(1, a.episodes + 1):
        state, done, profit, losses = env.reset(), False, 0.0, []
        while not done:
            action = agent.act(state)
            next_state, reward, done = env.step(action)
            agent.remember(state, action, reward, next_state, done)
            state, profit = next_state, profit + reward
            if len(agent.memory) >= a.batch_size:
                losses.append(agent.replay(a.batch_size))
        agent.decay_exploration()
        print("episode %d/%d profit %.4f loss %.6f eps %.3f" % (episode, a.episodes, profit, np.mean(losses), agent.epsilon))


if __name__ == "__main__":
    main()
