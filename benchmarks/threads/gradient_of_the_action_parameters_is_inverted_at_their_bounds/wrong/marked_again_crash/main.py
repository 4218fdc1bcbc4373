"""P-DQN on a toy soccer task: dash(power), turn(angle), kick(power)."""
import argparse
import os
import tempfile

import numpy as np
import torch

from agents.memory import Memory
from agents.pdqn import PDQNAgent
from field import Field


def evaluate(env, agent, episodes):
    returns = []
    for _ in range(episodes):
        state, total, terminal = env.reset(), 0.0, False
        while not terminal:
            act, params = agent.act(state, explore=False)
            state, reward, terminal = env.step(act, params[act])
            total += reward
        returns.append(total)
    return np.mean(returns)


def run(args):
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    env, test_env = Field(args.seed), Field(args.seed + 1)
    agent = PDQNAgent(env.n_state, env.n_actions, args)
    memory = Memory(args.capacity, env.n_state, env.n_actions)
    steps = 0
    for episode in range(args.episodes):
        state, total, terminal = env.reset(), 0.0, False
        q_losses, deltas = [], []
        while not terminal:
            act, params = agent.act(state)
            next_state, reward, terminal = env.step(act, params[act])
            memory.append(state, act, params, reward, next_state, terminal)
            state = next_state
            total += reward
            steps += 1
            if steps >= args.warmup and steps % args.update_every == 0:
                q_loss, delta = agent.optimize(memory.sample(args.batch_size))
                q_losses.append(q_loss)
                deltas.append(delta)
        agent.end_episode()
        if q_losses:
            print("episode {:2d} return {:.5f} q-loss {:.6f} delta {:.6f}".format(
                episode, total, np.mean(q_losses), np.mean(deltas)))
        else:
            print("episode {:2d} return {:.5f} (warm-up)".format(episode, total))
    print("test return {:.5f}".format(evaluate(test_env, agent, 2)))
    agent.save(os.path.join(tempfile.mkdtemp(), "pdqn.pt"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--capacity", type=int, default=500)
    parser.add_argument("--warmup", type=int, default=40)
    parser.add_argument("--update-every", type=int, default=4)
    parser.add_argument("--gamma", type=float, default=0.95)
    parser.add_argument("--tau", type=float, default=0.05)
    parser.add_argument("--lr-q", type=float, default=2e-3)
    parser.add_argument("--lr-param", type=float, default=1e-3)
    parser.add_argument("--epsilon", type=float, default=0.5)
    parser.add_argument("--clip", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=6)
    run(parser.parse_args())
