import torch
import torch.nn as nn
import torch.nn.functional as F


class ActorCritic(torch.nn.Module):

    def __init__(self, num_inputs, num_actions, hidden=24):
        super(ActorCritic, self).__init__()
        self.fc = nn.Linear(num_inputs, hidden)
        self.lstm = nn.LSTMCell(hidden, hidden)
        self.critic_linear = nn.Linear(hidden, 1)
        self.actor_linear = nn.Linear(hidden, num_actions)
        self.hidden = hidden
        self.lstm.bias_ih.data.fill_(0)
        self.lstm.bias_hh.data.fill_(0)

    def init_state(self):
        return torch.zeros(1, self.hidden), torch.zeros(1, self.hidden)

    def forward(self, inputs):
        inputs, (hx, cx) = inputs
        x = F.elu(self.fc(inputs))
        hx, cx = self.lstm(x, (hx, cx))
        return self.critic_linear(hx), self.actor_linear(hx), (hx, cx)
