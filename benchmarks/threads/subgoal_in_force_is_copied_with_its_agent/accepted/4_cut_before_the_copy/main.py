import argparse
import copy

import numpy as np
import torch

from agent import HiroAgent
from env import PointRoom


def evaluate(agent, env, episodes=3):
    """plays without exploration; the agent given is used up (own subgoal, own noise)"""
    returns, last = [], []
    for _ in range(episodes):
        s, goal = env.reset()
        agent.reset(s, goal, explore=False)
        total, done = 0.0, False
        while not done:
            a = agent.choose_action(s, explore=False)
            ns, r, done = env.step(a.numpy())
            agent.observe(s, a, r, ns, done, explore=False)
            s = ns
            total += r
        returns.append(total)
        last.append(-r)
    return np.mean(returns), np.mean(last)


def train(args):
    torch.manual_seed(args.seed)
    env = PointRoom(seed=args.seed)
    agent = HiroAgent()
    s, goal = env.reset()
    agent.reset(s, goal)

    losses = {}
    for step in range(1, args.steps + 1):
        a = agent.choose_action(s)
        ns, r, done = env.step(a.numpy())
        agent.observe(s, a, r, ns, done)
        losses.update(agent.train())
        s = ns
        if done:
            s, goal = env.reset()
            agent.reset(s, goal)

        if step % args.eval_freq == 0:
            # a copy plays, the training episode goes on afterwards
            agent.sg, agent.first_sg = agent.sg.detach(), agent.first_sg.detach()
            ret, dist = evaluate(copy.deepcopy(agent), PointRoom(seed=1000))
            print('step %d  eval return %.6f  final distance %.6f' % (step, ret, dist))
            for level in sorted(losses):
                print('    %s critic %.6f actor %.6f' % ((level,) + losses[level]))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--steps', type=int, default=240)
    parser.add_argument('--eval_freq', type=int, default=53)
    parser.add_argument('--seed', type=int, default=4)
    train(parser.parse_args())
