"""
DDPG with adaptive parameter-space noise (Plappert et al. 2018) on a small heating task.

The agent keeps a room at its set point; the outside temperature drifts. Exploration does not come
from noise on the action: at the start of an episode a perturbed copy of the actor is made, and the
copy acts for the whole episode. The size of the perturbation is adapted so that the actions of both
differ by about `target_dist`.
"""
import argparse
import copy
import os
import random
import tempfile
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Room:
    def __init__(self, seed, horizon=20):
        self.rng = np.random.RandomState(seed)
        self.horizon = horizon

    def reset(self):
        self.temp = self.rng.uniform(-1, 1)
        self.outside = self.rng.uniform(-1, 1)
        self.setpoint = self.rng.uniform(-0.5, 0.5)
        self.t = 0
        return self.obs()

    def obs(self):
        return np.array([self.temp, self.outside, self.setpoint, self.temp - self.setpoint], dtype=np.float32)

    def step(self, a):
        a = float(np.clip(a, -1, 1))
        self.temp += 0.15 * (self.outside - self.temp) + 0.3 * a
        self.outside += 0.05 * self.rng.randn()
        self.t += 1
        reward = -(self.temp - self.setpoint) ** 2 - 0.02 * a * a
        return self.obs(), reward, self.t >= self.horizon


class Actor(nn.Module):
    def __init__(self, n_obs, hidden=24):
        super().__init__()
        # layer norm: the same sigma has to mean the same in every layer
        self.net = nn.Sequential(nn.Linear(n_obs, hidden), nn.LayerNorm(hidden), nn.ReLU(),
                                 nn.Linear(hidden, hidden), nn.LayerNorm(hidden), nn.ReLU(),
                                 nn.Linear(hidden, 1), nn.Tanh())

    def forward(self, s):
        return self.net(s)


class Critic(nn.Module):
    def __init__(self, n_obs, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs + 1, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], dim=1))


class ParamNoise:
    def __init__(self, sigma=0.05, target_dist=0.1, factor=1.05):
        self.sigma, self.target_dist, self.factor = sigma, target_dist, factor

    def adapt(self, dist):
        self.sigma = self.sigma / self.factor if dist > self.target_dist else self.sigma * self.factor


class Agent:
    def __init__(self, n_obs, args):
        self.args = args
        self.actor, self.critic = Actor(n_obs), Critic(n_obs)
        self.perturbed = copy.deepcopy(self.actor)
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.opt_actor = torch.optim.Adam(self.actor.parameters(), lr=args.lr_actor)
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=args.lr_critic)
        self.noise = ParamNoise()
        self.memory = deque(maxlen=2000)

    def perturb(self):
        for name, p in self.perturbed.named_parameters():
            if p.dim() > 1:
                p.data += self.noise.sigma * torch.randn_like(p)

    @torch.no_grad()
    def act(self, obs, explore=True):
        net = self.perturbed if explore else self.actor
        return net(torch.from_numpy(obs).unsqueeze(0)).item()

    @torch.no_grad()
    def action_distance(self, n):
        states = torch.from_numpy(np.stack([step[0] for step in list(self.memory)[-n:]]))
        return (self.actor(states) - self.perturbed(states)).pow(2).mean().sqrt().item()

    def learn(self):
        batch = random.sample(self.memory, self.args.batch)
        s, a, r, s2, d = (torch.tensor(np.array(c), dtype=torch.float32) for c in zip(*batch))
        a, r, d = a.unsqueeze(1), r.unsqueeze(1), d.unsqueeze(1)
        with torch.no_grad():
            target = r + self.args.gamma * (1 - d) * self.critic_target(s2, self.actor_target(s2))
        critic_loss = F.smooth_l1_loss(self.critic(s, a), target)
        self.opt_critic.zero_grad()
        critic_loss.backward()
        self.opt_critic.step()

        actor_loss = -self.critic(s, self.actor(s)).mean()
        self.opt_actor.zero_grad()
        actor_loss.backward()
        self.opt_actor.step()

        with torch.no_grad():
            for net, target_net in [(self.actor, self.actor_target), (self.critic, self.critic_target)]:
                for p, q in zip(net.parameters(), target_net.parameters()):
                    q.lerp_(p, self.args.tau)
        return critic_loss.item(), actor_loss.item()


def play(agent, env, explore):
    obs, total, done = env.reset(), 0.0, False
    while not done:
        a = agent.act(obs, explore)
        obs2, r, done = env.step(a)
        if explore:
            agent.memory.append((obs, a, r, obs2, float(done)))
        obs, total = obs2, total + r
    return total


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=10)
    p.add_argument("--updates", type=int, default=10)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--gamma", type=float, default=0.95)
    p.add_argument("--tau", type=float, default=0.05)
    p.add_argument("--lr-actor", dest="lr_actor", type=float, default=1e-3)
    p.add_argument("--lr-critic", dest="lr_critic", type=float, default=5e-3)
    p.add_argument("--seed", type=int, default=4)
    args = p.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)

    env, test_env = Room(args.seed), Room(args.seed + 100)
    agent = Agent(4, args)
    for episode in range(args.episodes):
        agent.perturb()
        ret = play(agent, env, explore=True)
        dist = agent.action_distance(env.horizon)
        agent.noise.adapt(dist)
        if len(agent.memory) < 2 * args.batch:
            continue
        for _ in range(args.updates):
            c, a = agent.learn()
        print(f"episode {episode}  return {ret:.5f}  critic {c:.6f}  actor {a:.6f}"
              f"  dist {dist:.6f}  sigma {agent.noise.sigma:.5f}  test {play(agent, test_env, False):.5f}")
    with tempfile.TemporaryDirectory() as folder:
        torch.save(agent.actor.state_dict(), os.path.join(folder, "actor.pt"))


if __name__ == "__main__":
    main()
