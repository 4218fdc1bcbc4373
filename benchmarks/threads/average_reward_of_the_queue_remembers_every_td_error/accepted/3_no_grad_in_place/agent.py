import torch
import torch.nn as nn
from torch.distributions import Categorical


class Actor(nn.Module):
    def __init__(self, n_obs, n_actions, hidden=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh(), nn.Linear(hidden, n_actions))

    def forward(self, obs):
        return Categorical(logits=self.net(obs))


class DifferentialActorCritic:
    """One-step actor-critic for continuing tasks (Sutton & Barto, ch. 13.6).

    There is no discount: rewards are compared with a running estimate of the average reward.
    """

    def __init__(self, n_obs, n_actions, lr_actor=5e-3, lr_critic=2e-2, eta=0.02):
        self.actor = Actor(n_obs, n_actions)
        self.critic = nn.Linear(n_obs, 1)      # linear in the features, as in the book
        self.opt_actor = torch.optim.Adam(self.actor.parameters(), lr=lr_actor)
        self.opt_critic = torch.optim.SGD(self.critic.parameters(), lr=lr_critic)
        self.eta = eta
        self.avg_reward = torch.zeros(1)

    def act(self, obs):
        dist = self.actor(torch.as_tensor(obs))
        action = dist.sample()
        return action.item(), dist.log_prob(action)

    def learn(self, obs, reward, next_obs, log_prob):
        value = self.critic(torch.as_tensor(obs))
        with torch.no_grad():
            next_value = self.critic(torch.as_tensor(next_obs))
        delta = reward - self.avg_reward + next_value - value

        # R-bar <- R-bar + eta * delta
        with torch.no_grad():
            self.avg_reward += self.eta * delta

        critic_loss = 0.5 * delta.pow(2).sum()
        self.opt_critic.zero_grad()
        critic_loss.backward()
        self.opt_critic.step()

        actor_loss = -(log_prob * delta.detach()).sum()
        self.opt_actor.zero_grad()
        actor_loss.backward()
        self.opt_actor.step()
        return critic_loss.item(), actor_loss.item()
