import itertools
import torch
import torch.nn as nn
import torch.nn.functional as F


class Agent(object):
    def __init__(self, obs_dim=10, act_dim=2, hidden=16, lr=4e-3):
        self.encoder = nn.Sequential(nn.Linear(obs_dim, hidden), nn.LayerNorm(hidden), nn.Tanh())
        self.actor = nn.Sequential(nn.Linear(hidden, act_dim), nn.Tanh())
        self.critic = nn.Linear(hidden + act_dim, 1)
        self.critic_optimizer = torch.optim.Adam(itertools.chain(self.encoder.parameters(), self.critic.parameters()), lr=lr)
        self.actor_optimizer = torch.optim.Adam(itertools.chain(self.encoder.parameters(), self.actor.parameters()), lr=lr)

    def update(self, obs, action, reward):
        h = self.encoder(obs)
        Q = self.critic(torch.cat([h, action], -1))
        critic_loss = F.mse_loss(Q, reward)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        h = self.encoder(obs)
        pi = self.actor(h).detach()
        actor_loss = -self.critic(torch.cat([h, pi], -1)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        return critic_loss.item(), actor_loss.item()


if __name__ == '__main__':
    torch.manual_seed(2)
    agent = Agent()
    for i in range(6):
        obs = torch.randn(24, 10)
        action = torch.rand(24, 2) * 2 - 1
        reward = -(action - obs[:, :2]).pow(2).sum(1, keepdim=True)
        c, a = agent.update(obs, action, reward)
    print('critic_loss {:.6f} actor_loss {:.6f}'.format(c, a))
