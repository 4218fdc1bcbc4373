# アクターとラーナーをキューでつなぐ(ここでは再現性のため一つのプロセスで動かす)
import argparse
import torch
import torch.nn as nn
import torch.multiprocessing as mp
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 24), nn.Tanh())
        self.pi = nn.Linear(24, act)
        self.v = nn.Linear(24, 1)

    def evaluate(self, obs, action=None):
        h = self.body(obs)
        dist = Categorical(logits=self.pi(h))
        if action is None:
            action = dist.sample()
        return action, dist.log_prob(action), self.v(h).squeeze(-1)


class Corridor:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.goal = torch.randn(3, 4, generator=self.gen)

    def observe(self, n):
        return torch.randn(n, 4, generator=self.gen)

    def reward(self, obs, act):
        return (obs * self.goal[act]).sum(-1)


class Actor:
    def __init__(self, net, env, queue):
        self.net, self.env, self.queue = net, env, queue

    def rollout(self, n):
        obs = self.env.observe(n)
        action, logp, value = self.net.evaluate(obs)
        reward = self.env.reward(obs, action)
        self.queue.put({'obs': obs, 'action': action, 'logp': logp, 'value': value, 'reward': reward})


class Learner:
    def __init__(self, net, queue, lr, clip):
        self.net, self.queue, self.clip = net, queue, clip
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)

    def learn(self):
        b = self.queue.get()
        adv = b['reward'] - b['value']
        adv = adv / (adv.std() + 1e-6)
        _, logp, value = self.net.evaluate(b['obs'], b['action'])
        ratio = torch.exp(logp - b['logp'])
        pg = -torch.min(ratio * adv, ratio.clamp(1 - self.clip, 1 + self.clip) * adv).mean()
        vf = 0.5 * (value - b['reward']).pow(2).mean()
        self.opt.zero_grad()
        (pg + vf).backward()
        self.opt.step()
        return pg.item(), vf.item(), b['reward'].mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--steps', type=int, default=8)
    ap.add_argument('--lr', type=float, default=1e-2)
    args = ap.parse_args()
    torch.manual_seed(7)
    net = ActorCritic(4, 3)
    queue = mp.get_context('fork').SimpleQueue()
    actor, learner = Actor(net, Corridor(3), queue), Learner(net, queue, args.lr, 0.2)
    for step in range(args.steps):
        actor.rollout(32)
        pg, vf, r = learner.learn()
        print(f'{step} {pg:.6f} {vf:.6f} {r:.5f}')
    print('%.6f' % net.pi.weight.norm().item())


if __name__ == '__main__':
    main()
