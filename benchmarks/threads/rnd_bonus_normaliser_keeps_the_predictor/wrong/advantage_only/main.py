import argparse

import torch

from agent import ActorCritic
from curiosity import RND
from grid import Rooms


def rollout(env, agent, length):
    obs, actions, rewards = [], [], []
    o = env.reset()
    for _ in range(length):
        a = agent.act(o)
        obs.append(o)
        actions.append(a)
        o, r = env.step(a)
        rewards.append(r)
    return torch.stack(obs), torch.tensor(actions), torch.tensor(rewards), o


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--updates", type=int, default=8)
    p.add_argument("--length", type=int, default=20)
    p.add_argument("--beta", type=float, default=0.5, help="weight of the exploration bonus")
    p.add_argument("--seed", type=int, default=4)
    args = p.parse_args()
    torch.manual_seed(args.seed)

    env = Rooms()
    agent = ActorCritic(env.n_obs, env.n_actions)
    rnd = RND(env.n_obs)
    optimizer = torch.optim.Adam([
        {"params": agent.parameters(), "lr": 5e-3},
        {"params": rnd.predictor.parameters(), "lr": 1e-3},   # learns to imitate the random net, nothing else
    ])

    for u in range(args.updates):
        obs, actions, rewards, last = rollout(env, agent, args.length)
        error = rnd.error(obs)
        bonus = rnd.bonus(error)
        total = rewards + args.beta * bonus
        policy_loss, value_loss, entropy = agent.losses(obs, actions, total, last)
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropy + error.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("update %d  loss %.6f  rnd %.6f  ext %.1f" % (u, loss.item(), error.mean().item(), rewards.sum().item()))
    print("predictor %.6f" % rnd.predictor[0].weight.norm().item())


if __name__ == "__main__":
    main()
