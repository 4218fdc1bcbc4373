import torch
import torch.nn as nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, n_obs, n_actions, gamma=0.95):
        super().__init__()
        self.gamma = gamma
        self.pi = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh(), nn.Linear(32, n_actions))
        self.v = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh(), nn.Linear(32, 1))

    @torch.no_grad()
    def act(self, obs):
        return Categorical(logits=self.pi(obs)).sample().item()

    def losses(self, obs, actions, rewards, last):
        dist = Categorical(logits=self.pi(obs))
        values = self.v(obs).squeeze(-1)
        with torch.no_grad():
            g = self.v(last).squeeze(-1)
        returns = []
        for r in rewards.flip(0):
            g = r + self.gamma * g
            returns.append(g)
        returns = torch.stack(returns[::-1])
        advantage = returns - values.detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        policy_loss = -(dist.log_prob(actions) * advantage).mean()
        value_loss = (returns - values).pow(2).mean()
        return policy_loss, value_loss, dist.entropy().mean()
