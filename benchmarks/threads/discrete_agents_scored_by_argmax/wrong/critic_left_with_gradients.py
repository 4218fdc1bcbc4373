"""MADDPG, discrete actions, centralised critics. agents/critics are tiny MLPs so that it runs on my laptop"""
import argparse, copy, random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

MSELoss = nn.MSELoss()


def mlp(i, o, h=24):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, o))

def onehot_from_logits(logits):
    """ Given batch of logits, return one-hot sample using greedy strategy """
    return (logits == logits.max(1, keepdim=True)[0]).float()

def soft_update(target, source, tau):
    for tp, p in zip(target.parameters(), source.parameters()):
        tp.data.copy_(tp.data * (1.0 - tau) + p.data * tau)

def enable_gradients(module):
    for p in module.parameters():
        p.requires_grad = True

def disable_gradients(module):
    for p in module.parameters():
        p.requires_grad = False


class DDPGAgent(object):
    def __init__(self, n_obs, n_act, n_joint, lr):
        self.policy, self.critic = mlp(n_obs, n_act), mlp(n_joint, 1)
        self.target_policy, self.target_critic = copy.deepcopy(self.policy), copy.deepcopy(self.critic)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr)


class MADDPG(object):
    def __init__(self, n_agents, n_obs, n_act, gamma=0.95, tau=0.05, lr=0.01):
        self.gamma, self.tau, self.n_act = gamma, tau, n_act
        self.agents = [DDPGAgent(n_obs, n_act, n_agents * (n_obs + n_act), lr) for _ in range(n_agents)]

    def update(self, sample, agent_i):
        obs, acs, rews, next_obs, dones = sample
        curr = self.agents[agent_i]

        # critic
        with torch.no_grad():
            trgt_acs = [onehot_from_logits(a.target_policy(nobs)) for a, nobs in zip(self.agents, next_obs)]
            target_value = rews[agent_i].view(-1, 1) + self.gamma * curr.target_critic(torch.cat((*next_obs, *trgt_acs), dim=1)) * (1 - dones.view(-1, 1))
        actual_value = curr.critic(torch.cat((*obs, *acs), dim=1))
        vf_loss = MSELoss(actual_value, target_value)
        curr.critic_optimizer.zero_grad()
        vf_loss.backward()
        nn.utils.clip_grad_norm_(curr.critic.parameters(), 0.5)
        curr.critic_optimizer.step()

        # policy: own action by the current policy, those of the others out of the buffer
        curr_pol_out = curr.policy(obs[agent_i])
        curr_pol_vf_in = onehot_from_logits(curr_pol_out)
        all_pol_acs = [curr_pol_vf_in if i == agent_i else a for i, a in enumerate(acs)]
        pol_loss = -curr.critic(torch.cat((*obs, *all_pol_acs), dim=1)).mean()
        curr.policy_optimizer.zero_grad()
        pol_loss.backward()
        nn.utils.clip_grad_norm_(curr.policy.parameters(), 0.5)
        curr.policy_optimizer.step()
        enable_gradients(curr.critic)
        return vf_loss.item(), pol_loss.item()

    def update_all_targets(self):
        for a in self.agents:
            soft_update(a.target_critic, a.critic, self.tau)
            soft_update(a.target_policy, a.policy, self.tau)


def fill_buffer(n, n_agents, n_obs, n_act, rng):
    obs = rng.randn(n_agents, n, n_obs); nobs = obs + 0.1 * rng.randn(n_agents, n, n_obs)
    acs = rng.randint(0, n_act, (n_agents, n))
    rews = (acs == (obs[..., 0] > 0)).astype(float) + 0.5 * (acs == acs[::-1])
    t = lambda x: torch.tensor(x, dtype=torch.float32)
    return [t(obs), F.one_hot(torch.tensor(acs), n_act).float(), t(rews), t(nobs), t(rng.rand(n) < 0.1)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n_agents", default=2, type=int)
    parser.add_argument("--batch_size", default=32, type=int)
    parser.add_argument("--updates", default=5, type=int)
    parser.add_argument("--seed", default=1, type=int)
    config = parser.parse_args()
    torch.manual_seed(config.seed); np.random.seed(config.seed); random.seed(config.seed)
    rng = np.random.RandomState(config.seed)
    maddpg = MADDPG(config.n_agents, 4, 3)
    buf = fill_buffer(256, config.n_agents, 4, 3, rng)
    for u in range(config.updates):
        for a_i in range(config.n_agents):
            idx = torch.from_numpy(rng.randint(0, 256, config.batch_size))
            sample = [list(x[:, idx]) for x in buf[:4]] + [buf[4][idx]]
            vf, pol = maddpg.update(sample, a_i)
            print("%d agent%d vf_loss %.5f pol_loss %.5f" % (u, a_i, vf, pol))
        maddpg.update_all_targets()


if __name__ == '__main__':
    main()
