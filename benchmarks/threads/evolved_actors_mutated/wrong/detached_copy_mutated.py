# Evolutionary RL: a population of actors shares experience with one actor trained by gradients
import argparse, random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

class Actor(nn.Module):
    def __init__(self, args):
        super(Actor, self).__init__()
        l1 = args.ls
        self.w_l1 = nn.Linear(args.state_dim, l1)
        self.w_out = nn.Linear(l1, args.action_dim)
        self.w_out.weight.data.mul_(0.1)

    def forward(self, input):
        return torch.tanh(self.w_out(torch.tanh(self.w_l1(input))))

class Critic(nn.Module):
    def __init__(self, args):
        super(Critic, self).__init__()
        self.net = nn.Sequential(nn.Linear(args.state_dim + args.action_dim, args.ls), nn.ELU(), nn.Linear(args.ls, 1))

    def forward(self, s, a):
        return self.net(torch.cat((s, a), 1)).squeeze(1)

class SSNE:
    """neuro-evolution: elites stay, the worst are replaced by mutated elites"""
    def __init__(self, args):
        self.args = args

    def clone(self, master, replacee):
        for target, source in zip(replacee.parameters(), master.parameters()):
            target.data.copy_(source.data)

    def mutate_inplace(self, gene):
        mut_strength, frac = 0.5, 0.3
        for W in gene.parameters():
            if W.dim() != 2:
                continue
            W = W.detach().clone()
            for _ in range(max(1, int(frac * W.numel()))):
                i, j = random.randrange(W.shape[0]), random.randrange(W.shape[1])
                W[i, j] += random.gauss(0, mut_strength * abs(W[i, j].item()) + 0.05)

    def epoch(self, pop, fitness):
        rank = np.argsort(fitness)[::-1]
        elites, rest = rank[:1], rank[1:]
        for k in rest[len(rest) // 2:]:
            self.clone(pop[elites[0]], pop[k])
        for k in rest:
            self.mutate_inplace(pop[k])
        return int(elites[0]), int(rank[-1])

class Env:
    def __init__(self, args):
        g = np.random.RandomState(4)
        self.A = 0.6 * np.eye(args.state_dim) + 0.1 * g.randn(args.state_dim, args.state_dim)
        self.B = g.randn(args.state_dim, args.action_dim)

    def rollout(self, actor, buffer, noise, T=8):
        s, total = np.random.randn(self.A.shape[0]).astype(np.float32), 0.
        for _ in range(T):
            with torch.no_grad():
                a = actor(torch.from_numpy(s)[None])[0].numpy() + noise * np.random.randn(self.B.shape[1]).astype(np.float32)
            s2 = (self.A @ s + self.B @ a).astype(np.float32)
            r = -float((s2 ** 2).sum() + 0.1 * (a ** 2).sum())
            buffer.append((s, a.astype(np.float32), np.float32(r), s2))
            s, total = s2, total + r
        return total

class Agent:
    def __init__(self, args):
        self.args, self.env, self.evolver = args, Env(args), SSNE(args)
        self.pop = [Actor(args) for _ in range(args.pop_size)]
        self.rl_actor, self.critic = Actor(args), Critic(args)
        self.actor_optim = torch.optim.Adam(self.rl_actor.parameters(), lr=5e-3)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=5e-3)
        self.buffer = []

    def ddpg_step(self):
        s, a, r, s2 = (torch.from_numpy(np.stack(x)) for x in zip(*random.sample(self.buffer, 16)))
        with torch.no_grad():
            y = r + 0.9 * self.critic(s2, self.rl_actor(s2))
        q_loss = F.mse_loss(self.critic(s, a), y)
        self.critic_optim.zero_grad(); q_loss.backward(); self.critic_optim.step()
        pi_loss = -self.critic(s, self.rl_actor(s)).mean()
        self.actor_optim.zero_grad(); pi_loss.backward(); self.actor_optim.step()
        return q_loss.item(), pi_loss.item()

    def train(self):
        fitness = [self.env.rollout(net, self.buffer, 0.) for net in self.pop]
        self.env.rollout(self.rl_actor, self.buffer, 0.2)
        best, worst = self.evolver.epoch(self.pop, fitness)
        q, pi = [self.ddpg_step() for _ in range(2)][-1]
        self.evolver.clone(self.rl_actor, self.pop[worst])      # synch: RL actor into the population
        return max(fitness), q, pi

if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--pop_size', type=int, default=4)
    parser.add_argument('--state_dim', type=int, default=3)
    parser.add_argument('--action_dim', type=int, default=2)
    parser.add_argument('--ls', type=int, default=12)
    parser.add_argument('--gens', type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(7); np.random.seed(7); random.seed(7)
    agent = Agent(args)
    for gen in range(args.gens):
        print('#gen %d best %.6f q %.6f pi %.6f' % ((gen,) + agent.train()))
