import copy
import itertools

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

from pendulum import Pendulum

LOG_STD_MIN, LOG_STD_MAX = -20, 2


class GaussianPolicy(nn.Module):
    def __init__(self, obs, act, scale):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.mean, self.log_std, self.scale = nn.Linear(128, act), nn.Linear(128, act), scale

    def sample(self, state):
        x = self.body(state)
        normal = Normal(self.mean(x), self.log_std(x).clamp(LOG_STD_MIN, LOG_STD_MAX).exp())
        z = normal.rsample()
        action = torch.tanh(z)
        log_prob = (normal.log_prob(z) - torch.log(1 - action.pow(2) + 1e-6)).sum(1, keepdim=True)
        return action * self.scale, log_prob


def critic(obs, act):
    return nn.Sequential(nn.Linear(obs + act, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))


class SAC:
    def __init__(self, env, gamma=0.99, tau=0.005, lr=3e-4):
        self.gamma, self.tau = gamma, tau
        self.policy = GaussianPolicy(env.state_dim, env.action_dim, env.max_action)
        self.q1, self.q2 = critic(env.state_dim, env.action_dim), critic(env.state_dim, env.action_dim)
        self.q1_target, self.q2_target = copy.deepcopy(self.q1), copy.deepcopy(self.q2)
        self.q_params = list(itertools.chain(self.q1.parameters(), self.q2.parameters()))
        self.q_optim = torch.optim.Adam(self.q_params, lr=lr)
        self.pi_optim = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.target_entropy = -float(env.action_dim)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=lr)

    def act(self, obs):
        with torch.no_grad():
            action, _ = self.policy.sample(torch.as_tensor(obs).unsqueeze(0))
        return action.numpy()[0]

    def update(self, batch):
        s, a, r, s2, d = batch
        alpha = self.log_alpha.exp().item()
        with torch.no_grad():
            a2, logp2 = self.policy.sample(s2)
            sa2 = torch.cat([s2, a2], 1)
            backup = r + self.gamma * (1 - d) * (torch.min(self.q1_target(sa2), self.q2_target(sa2)) - alpha * logp2)
        sa = torch.cat([s, a], 1)
        q_loss = F.mse_loss(self.q1(sa), backup) + F.mse_loss(self.q2(sa), backup)
        self.q_optim.zero_grad()
        q_loss.backward()
        self.q_optim.step()

        for p in self.q_params:
            p.requires_grad = False
        pi, log_pi = self.policy.sample(s)
        sp = torch.cat([s, pi], 1)
        pi_loss = (alpha * log_pi - torch.min(self.q1(sp), self.q2(sp))).mean()
        self.pi_optim.zero_grad()
        pi_loss.backward()
        self.pi_optim.step()
        for p in self.q_params:
            p.requires_grad = True

        alpha_loss = -(self.log_alpha.exp() * (log_pi + self.target_entropy)).mean()
        self.alpha_optim.zero_grad()
        alpha_loss.backward()
        self.alpha_optim.step()

        with torch.no_grad():
            for net, target in ((self.q1, self.q1_target), (self.q2, self.q2_target)):
                for p, tp in zip(net.parameters(), target.parameters()):
                    tp.mul_(1 - self.tau).add_(self.tau * p)
        return q_loss.item(), pi_loss.item()


def main():
    torch.manual_seed(1)
    np.random.seed(1)
    env, memory = Pendulum(substeps=200), []
    agent = SAC(env)
    obs, ret = env.reset(), 0.0
    for t in range(100000):
        action = env.sample() if t < 1000 else agent.act(obs)
        obs2, reward, done, _ = env.step(action)
        memory.append((obs, action, [reward], obs2, [float(done)]))
        obs, ret = obs2, ret + reward
        if done:
            print("episode return %.2f" % ret)
            obs, ret = env.reset(), 0.0
        if t >= 4000 and t % 500 == 0:
            for _ in range(50):
                rows = [memory[i] for i in np.random.randint(len(memory), size=128)]
                batch = [torch.as_tensor(np.array(c), dtype=torch.float32) for c in zip(*rows)]
                agent.update(batch)


if __name__ == "__main__":
    main()
