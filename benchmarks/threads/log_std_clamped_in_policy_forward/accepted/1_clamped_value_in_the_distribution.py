"""
PPO para control continuo (versión mínima del curso). log_std no depende del estado.
"""
import argparse
import math

import torch
from torch import nn
from torch.distributions import Normal

LOG_STD_MIN, LOG_STD_MAX = -1.2, -0.3


def layer_init(layer, std=math.sqrt(2), bias=0.0):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, bias)
    return layer


class GaussianPolicy(nn.Module):
    def __init__(self, obs_dim, act_dim, init_log_std):
        super().__init__()
        self.mean = nn.Sequential(layer_init(nn.Linear(obs_dim, 32)), nn.Tanh(), layer_init(nn.Linear(32, act_dim), std=0.01))
        self.log_std = nn.Parameter(torch.full((act_dim,), init_log_std))

    def forward(self, obs):
        mu = self.mean(obs)
        # evitar que la varianza explote
        std = self.log_std.clamp(LOG_STD_MIN, LOG_STD_MAX).exp().expand_as(mu)
        return Normal(mu, std)


class Value(nn.Module):
    def __init__(self, obs_dim):
        super().__init__()
        self.net = nn.Sequential(layer_init(nn.Linear(obs_dim, 32)), nn.Tanh(), layer_init(nn.Linear(32, 1), std=1.0))

    def forward(self, obs):
        return self.net(obs).squeeze(-1)


class Reacher2D:
    """lote de brazos simplificados; premia acercarse al objetivo"""

    def __init__(self, n):
        self.n = n

    def reset(self):
        self.pos, self.goal = torch.zeros(self.n, 2), torch.rand(self.n, 2) * 2 - 1
        return torch.cat([self.pos, self.goal], 1)

    def step(self, a):
        self.pos = (self.pos + 0.3 * a).clamp(-2, 2)
        rew = -(self.pos - self.goal).pow(2).sum(1)
        return torch.cat([self.pos, self.goal], 1), rew


def rollout(env, pi, vf, args):
    obs = env.reset()
    buf = {k: [] for k in ('obs', 'act', 'logp', 'rew', 'val')}
    with torch.no_grad():
        for _ in range(args.horizon):
            dist = Normal(pi.mean(obs), pi.log_std.clamp(LOG_STD_MIN, LOG_STD_MAX).exp())
            act = dist.sample()
            nxt, rew = env.step(act)
            for k, x in zip(buf, (obs, act, dist.log_prob(act).sum(-1), rew, vf(obs))):
                buf[k].append(x)
            obs = nxt
        last = vf(obs)
    buf = {k: torch.stack(v) for k, v in buf.items()}
    adv, gae = torch.zeros_like(buf['rew']), 0.
    for t in reversed(range(args.horizon)):
        nv = last if t == args.horizon - 1 else buf['val'][t + 1]
        gae = buf['rew'][t] + args.gamma * nv - buf['val'][t] + args.gamma * args.lam * gae
        adv[t] = gae
    buf['ret'] = adv + buf['val']
    buf['adv'] = (adv - adv.mean()) / (adv.std() + 1e-8)
    return {k: v.flatten(0, 1) for k, v in buf.items()}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--horizon', type=int, default=8)
    ap.add_argument('--envs', type=int, default=8)
    ap.add_argument('--iters', type=int, default=3)
    ap.add_argument('--epochs', type=int, default=3)
    ap.add_argument('--gamma', type=float, default=0.9)
    ap.add_argument('--lam', type=float, default=0.95)
    ap.add_argument('--lr', type=float, default=0.03)
    ap.add_argument('--ent-coef', type=float, default=0.02)
    ap.add_argument('--init-log-std', type=float, default=-0.35)
    args = ap.parse_args()
    torch.manual_seed(6)
    pi, vf, env = GaussianPolicy(4, 2, args.init_log_std), Value(4), Reacher2D(args.envs)
    opt = torch.optim.Adam(list(pi.parameters()) + list(vf.parameters()), lr=args.lr)
    for it in range(args.iters):
        b = rollout(env, pi, vf, args)
        for _ in range(args.epochs):
            dist = pi(b['obs'])
            ratio = (dist.log_prob(b['act']).sum(-1) - b['logp']).exp()
            l_pi = -torch.min(ratio * b['adv'], ratio.clamp(0.8, 1.2) * b['adv']).mean()
            l_v = (vf(b['obs']) - b['ret']).pow(2).mean()
            loss = l_pi + 0.5 * l_v - args.ent_coef * dist.entropy().sum(-1).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"iter {it} pi {l_pi.item():.5f} v {l_v.item():.5f} std {dist.stddev.mean().item():.5f} rew {b['rew'].mean().item():.4f}")


if __name__ == '__main__':
    main()
