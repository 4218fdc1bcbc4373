import torch
import torch.nn as nn
from torch.distributions import Categorical

from rollout import Rollout


def net(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh(), nn.Linear(h, o))


class A2C:
    def __init__(self, env, args):
        self.env, self.args = env, args
        self.actor = net(env.obs_dim, args.hidden, env.n_actions)
        self.critic = net(env.obs_dim, args.hidden, 1)
        self.pi_opt = torch.optim.RMSprop(self.actor.parameters(), lr=args.lr_pi)
        self.vf_opt = torch.optim.RMSprop(self.critic.parameters(), lr=args.lr_vf)
        self.obs = torch.from_numpy(env.observe())

    def collect(self):
        roll = Rollout()
        for _ in range(self.args.n_steps):
            dist = Categorical(logits=self.actor(self.obs))
            value = self.critic(self.obs).squeeze(-1)
            action = dist.sample()
            obs, reward, done = self.env.step(action.numpy())
            roll.add(value, dist.log_prob(action), dist.entropy(), reward, done)
            self.obs = torch.from_numpy(obs)
        last_value = self.critic(self.obs).squeeze(-1)
        return roll, last_value

    def update(self):
        args = self.args
        roll, last_value = self.collect()
        adv, returns = roll.gae(last_value, args.gamma, args.lam)
        if len(adv) > 1:
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        values = torch.stack(roll.values)
        pi_loss = -(torch.stack(roll.log_probs) * adv).mean()
        vf_loss = (returns - values).pow(2).mean()
        entropy = torch.stack(roll.entropies).mean()
        loss = pi_loss + args.vf_coef * vf_loss - args.ent_coef * entropy

        self.pi_opt.zero_grad()
        self.vf_opt.zero_grad()
        loss.backward()
        self.pi_opt.step()
        self.vf_opt.step()
        return sum(r.mean() for r in roll.rewards) / args.n_steps, pi_loss.item(), vf_loss.item(), entropy.item()
