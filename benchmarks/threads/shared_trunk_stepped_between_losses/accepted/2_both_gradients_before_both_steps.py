"""n-step A2C, shared torso with one optimizer per head (lr differs)."""
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class SharedActorCritic(nn.Module):
    def __init__(self, obs_dim, n_actions, width=32):
        super().__init__()
        self.torso = nn.Sequential(nn.Linear(obs_dim, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.pi = nn.Linear(width, n_actions)
        self.v = nn.Linear(width, 1)

    def forward(self, obs):
        z = self.torso(obs)
        return Categorical(logits=self.pi(z)), self.v(z).squeeze(-1)


class PointEnv(object):
    """ 2-d point that has to go to the origin, 5 actions """
    MOVES = np.array([[0, 0], [.2, 0], [-.2, 0], [0, .2], [0, -.2]])

    def __init__(self, seed=0):
        self.rng = np.random.RandomState(seed)
        self.s = self.rng.uniform(-1, 1, 2)
        self.t = 0

    def obs(self):
        return np.concatenate([self.s, [self.t / 20.]]).astype(np.float32)

    def step(self, a):
        self.s = self.s + self.MOVES[a] + 0.02 * self.rng.randn(2)
        self.t += 1
        r = -float(np.abs(self.s).sum())
        done = self.t >= 20 or r > -0.1
        if done:
            self.s, self.t = self.rng.uniform(-1, 1, 2), 0
        return self.obs(), r, done


class A2C:
    def __init__(self, env, gamma=0.97, n_steps=8, lr_pi=3e-3, lr_v=1e-2, ent_coef=0.01):
        self.env, self.gamma, self.n_steps, self.ent_coef = env, gamma, n_steps, ent_coef
        self.net = SharedActorCritic(3, 5)
        self.opt_v = torch.optim.RMSprop(list(self.net.torso.parameters()) + list(self.net.v.parameters()), lr=lr_v)
        self.opt_pi = torch.optim.RMSprop(list(self.net.torso.parameters()) + list(self.net.pi.parameters()), lr=lr_pi)

    def rollout(self):
        obs, acts, rews, dones = [], [], [], []
        o = self.env.obs()
        for _ in range(self.n_steps):
            with torch.no_grad():
                dist, _ = self.net(torch.from_numpy(o))
            a = dist.sample()
            obs.append(o); acts.append(a)
            o, r, d = self.env.step(a.item())
            rews.append(r); dones.append(float(d))
        with torch.no_grad():
            R = self.net(torch.from_numpy(o))[1]
        rets = []
        for r, d in zip(reversed(rews), reversed(dones)):
            R = r + self.gamma * R * (1 - d)
            rets.insert(0, R)
        return torch.from_numpy(np.stack(obs)), torch.stack(acts), torch.stack(rets), float(np.mean(rews))

    def update(self):
        obs, acts, rets, mean_rew = self.rollout()
        dist, values = self.net(obs)
        adv = rets - values

        critic_loss = adv.pow(2).mean()
        actor_loss = -(dist.log_prob(acts) * adv.detach()).mean() - self.ent_coef * dist.entropy().mean()

        self.opt_v.zero_grad()
        self.opt_pi.zero_grad()
        (critic_loss + actor_loss).backward()
        self.opt_v.step()
        self.opt_pi.step()
        return critic_loss.item(), actor_loss.item(), mean_rew


def main(n_updates=6, seed=12):
    torch.manual_seed(seed)
    agent = A2C(PointEnv(seed))
    for u in range(n_updates):
        print("update {:3d} | critic {:.5f} | actor {:.5f} | reward {:.4f}".format(u, *agent.update()))


if __name__ == "__main__":
    main()
