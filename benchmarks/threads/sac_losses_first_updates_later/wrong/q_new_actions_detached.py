import copy
import numpy as np
import torch
import torch.nn as nn
from torch.optim import Adam
from torch.distributions import Normal

# SAC trainer in the style of rlkit, environment replaced by a random linear one


class FlattenMlp(nn.Module):
    def __init__(self, input_size, output_size, hidden_sizes=(32, 32)):
        super().__init__()
        sizes = [input_size] + list(hidden_sizes)
        self.fcs = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])])
        self.last_fc = nn.Linear(sizes[-1], output_size)

    def forward(self, *inputs):
        h = torch.cat(inputs, dim=1)
        for fc in self.fcs:
            h = torch.relu(fc(h))
        return self.last_fc(h)


class TanhGaussianPolicy(FlattenMlp):
    def __init__(self, obs_dim, action_dim):
        super().__init__(obs_dim, 2 * action_dim)

    def forward(self, obs):
        mean, log_std = super().forward(obs).chunk(2, dim=1)
        dist = Normal(mean, log_std.clamp(-20, 2).exp())
        z = dist.rsample()
        action = torch.tanh(z)
        log_pi = (dist.log_prob(z) - torch.log(1 - action ** 2 + 1e-6)).sum(1, keepdim=True)
        return action, mean, log_std, log_pi


class SACTrainer(object):
    def __init__(self, policy, qf1, qf2, discount=0.95, reward_scale=1.0, lr=1e-3, tau=1e-2, action_dim=2):
        self.policy, self.qf1, self.qf2 = policy, qf1, qf2
        self.target_qf1, self.target_qf2 = copy.deepcopy(qf1), copy.deepcopy(qf2)
        self.discount, self.reward_scale, self.tau = discount, reward_scale, tau
        self.target_entropy = -action_dim
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_optimizer = Adam([self.log_alpha], lr=lr)
        self.policy_optimizer = Adam(policy.parameters(), lr=lr)
        self.qf1_optimizer = Adam(qf1.parameters(), lr=lr)
        self.qf2_optimizer = Adam(qf2.parameters(), lr=lr)
        self.qf_criterion = nn.MSELoss()
        self.eval_statistics = {}

    def train_from_torch(self, batch):
        obs, actions, rewards, terminals, next_obs = batch

        """
        All losses first (everything with the networks as they are now), the updates follow below
        """
        new_obs_actions, policy_mean, policy_log_std, log_pi = self.policy(obs)
        alpha_loss = -(self.log_alpha * (log_pi + self.target_entropy).detach()).mean()
        alpha = self.log_alpha.exp().detach()

        q_new_actions = torch.min(self.qf1(obs, new_obs_actions), self.qf2(obs, new_obs_actions))
        policy_loss = (alpha * log_pi - q_new_actions.detach()).mean()

        q1_pred = self.qf1(obs, actions)
        q2_pred = self.qf2(obs, actions)
        new_next_actions, _, _, new_log_pi = self.policy(next_obs)
        target_q_values = torch.min(
            self.target_qf1(next_obs, new_next_actions), self.target_qf2(next_obs, new_next_actions)
        ) - alpha * new_log_pi
        q_target = self.reward_scale * rewards + (1. - terminals) * self.discount * target_q_values
        qf1_loss = self.qf_criterion(q1_pred, q_target.detach())
        qf2_loss = self.qf_criterion(q2_pred, q_target.detach())

        """
        Update networks
        """
        self.alpha_optimizer.zero_grad()
        alpha_loss.backward()
        self.alpha_optimizer.step()

        self.qf1_optimizer.zero_grad()
        qf1_loss.backward()
        self.qf1_optimizer.step()

        self.qf2_optimizer.zero_grad()
        qf2_loss.backward()
        self.qf2_optimizer.step()

        self.policy_optimizer.zero_grad()
        policy_loss.backward()
        self.policy_optimizer.step()

        """
        Soft Updates
        """
        for net, target in ((self.qf1, self.target_qf1), (self.qf2, self.target_qf2)):
            for p, tp in zip(net.parameters(), target.parameters()):
                tp.data.copy_(tp.data * (1.0 - self.tau) + p.data * self.tau)

        self.eval_statistics = dict(
            q=qf1_loss.item() + qf2_loss.item(), policy=policy_loss.item(), alpha=alpha.item(),
            log_pi=log_pi.mean().item())


def experiment(variant):
    torch.manual_seed(variant['seed'])
    np.random.seed(variant['seed'])
    obs_dim, action_dim, n = 5, 2, 128
    trainer = SACTrainer(TanhGaussianPolicy(obs_dim, action_dim), FlattenMlp(obs_dim + action_dim, 1),
                         FlattenMlp(obs_dim + action_dim, 1), **variant['trainer_kwargs'])
    A, B = 0.4 * torch.randn(obs_dim, obs_dim), torch.randn(action_dim, obs_dim)
    obs = torch.randn(n, obs_dim)
    acts = torch.rand(n, action_dim) * 2 - 1
    nobs = obs @ A + acts @ B
    rews = -(nobs ** 2).mean(1, keepdim=True)
    terms = (torch.rand(n, 1) < 0.05).float()
    for step in range(variant['num_steps']):
        idx = np.random.randint(0, n, 32)
        trainer.train_from_torch([d[idx] for d in (obs, acts, rews, terms, nobs)])
        if (step + 1) % 2 == 0:
            print(' '.join('%s %.5f' % kv for kv in trainer.eval_statistics.items()))


if __name__ == "__main__":
    experiment(dict(seed=0, num_steps=6, trainer_kwargs=dict(lr=2e-3, tau=5e-2)))
