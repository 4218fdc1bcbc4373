import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser("discrete CQL(H), Lagrange version")
parser.add_argument("--steps", default=8, type=int)
parser.add_argument("--batch", default=32, type=int)
parser.add_argument("--gamma", default=0.97, type=float)
parser.add_argument("--tau", default=0.05, type=float)
parser.add_argument("--lagrange-thresh", default=0.4, type=float)
parser.add_argument("--lr", default=3e-3, type=float)
parser.add_argument("--alpha-lr", default=5e-2, type=float)
parser.add_argument("--seed", default=3, type=int)
args = parser.parse_args()


class OfflineData:
    """Transitions logged by some unknown behaviour policy on a noisy line world."""

    def __init__(self, n, obs_dim=5, n_actions=4):
        g = torch.Generator().manual_seed(99)
        self.obs = torch.randn(n, obs_dim, generator=g)
        self.act = torch.randint(0, n_actions, (n,), generator=g)
        drift = torch.randn(n_actions, obs_dim, generator=g) * 0.3
        self.next_obs = 0.8 * self.obs + drift[self.act]
        self.rew = -self.next_obs.pow(2).mean(-1)
        self.done = (torch.rand(n, generator=g) < 0.08).float()
        self.g = g

    def sample(self, n):
        i = torch.randint(0, len(self.obs), (n,), generator=self.g)
        return self.obs[i], self.act[i], self.rew[i], self.next_obs[i], self.done[i]


def mlp(i, o, h=32):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, o))


class CQL:
    def __init__(self, obs_dim, n_actions):
        self.q1, self.q2 = mlp(obs_dim, n_actions), mlp(obs_dim, n_actions)
        self.t1, self.t2 = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.log_alpha_prime = nn.Parameter(torch.zeros(1))
        self.critic_opt = torch.optim.Adam(list(self.q1.parameters()) + list(self.q2.parameters()), lr=args.lr)
        self.alpha_opt = torch.optim.Adam([self.log_alpha_prime], lr=args.alpha_lr)

    @torch.no_grad()
    def target(self, rew, next_obs, done):
        q = torch.min(self.t1(next_obs), self.t2(next_obs)).max(-1).values
        return rew + args.gamma * (1 - done) * q

    @staticmethod
    def conservative_gap(q, act):
        """How much the soft maximum over all actions lies above the logged action."""
        return (q.logsumexp(-1) - q.gather(1, act[:, None]).squeeze(1)).mean()

    def update(self, batch):
        obs, act, rew, next_obs, done = batch
        y = self.target(rew, next_obs, done)
        q1, q2 = self.q1(obs), self.q2(obs)
        bellman = F.mse_loss(q1.gather(1, act[:, None]).squeeze(1), y) \
            + F.mse_loss(q2.gather(1, act[:, None]).squeeze(1), y)
        gap1, gap2 = self.conservative_gap(q1, act), self.conservative_gap(q2, act)

        self.critic_opt.zero_grad()
        self.alpha_opt.zero_grad()

        # dual ascent: alpha' grows while the gap is above the threshold
        alpha_prime = torch.clamp(self.log_alpha_prime.exp(), min=0.0, max=1e6)
        min_q1 = alpha_prime * (gap1 - args.lagrange_thresh)
        min_q2 = alpha_prime * (gap2 - args.lagrange_thresh)
        alpha_loss = -0.5 * alpha_prime * (gap1 + gap2 - 2 * args.lagrange_thresh).detach()
        alpha_loss.backward()
        self.alpha_opt.step()

        # primal descent: the critics close the gap
        critic_loss = 0.5 * bellman + (min_q1 + min_q2).detach()
        critic_loss.backward()
        self.critic_opt.step()
        self.soft_update()
        return bellman.item(), 0.5 * (gap1 + gap2).item(), alpha_prime.item()

    @torch.no_grad()
    def soft_update(self):
        for net, tgt in ((self.q1, self.t1), (self.q2, self.t2)):
            for p, t in zip(net.parameters(), tgt.parameters()):
                t.lerp_(p, args.tau)


def main():
    torch.manual_seed(args.seed)
    data = OfflineData(400)
    agent = CQL(5, 4)
    for step in range(args.steps):
        bellman, gap, alpha = agent.update(data.sample(args.batch))
        print(f"{step:3d}  bellman {bellman:.5f}  gap {gap:.5f}  alpha' {alpha:.5f}")


if __name__ == "__main__":
    main()
