import torch
import torch.nn as nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):

    def __init__(self, obs_size, num_actions, hidden_size=32):
        super(ActorCritic, self).__init__()
        self.base = nn.Sequential(nn.Linear(obs_size, hidden_size), nn.Tanh(),
                                  nn.Linear(hidden_size, hidden_size), nn.Tanh())
        self.actor = nn.Linear(hidden_size, num_actions)
        self.critic = nn.Linear(hidden_size, 1)

    def act(self, obs):
        x = self.base(obs)
        dist = Categorical(logits=self.actor(x))
        action = dist.sample()
        return (self.critic(x), action.unsqueeze(1),
                dist.log_prob(action).unsqueeze(1), dist.entropy().unsqueeze(1))

    def get_value(self, obs):
        return self.critic(self.base(obs))
