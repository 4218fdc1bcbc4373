import torch as th
import torch.nn as nn
import torch.nn.functional as F


class RNNAgent(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden):
        super().__init__()
        self.hidden = hidden
        self.fc1 = nn.Linear(obs_dim, hidden)
        self.rnn = nn.GRUCell(hidden, hidden)
        self.fc2 = nn.Linear(hidden, n_actions)

    def init_hidden(self, n):
        return self.fc1.weight.new_zeros(n, self.hidden)

    def forward(self, inputs, hidden_state):
        h = self.rnn(F.relu(self.fc1(inputs)), hidden_state)
        return self.fc2(h), h


class CentralVCritic(nn.Module):
    def __init__(self, state_dim, n_agents, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(state_dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_agents))

    def forward(self, state):
        return self.net(state)


class MAC:
    """multi agent controller, parameters are shared between the agents"""

    def __init__(self, agent):
        self.agent = agent

    def unroll(self, obs):
        b, t, n, d = obs.shape
        h = self.agent.init_hidden(b * n)
        out = []
        for i in range(t):
            logits, h = self.agent(obs[:, i].reshape(b * n, d), h)
            out.append(logits.view(b, n, -1))
        return th.stack(out, dim=1)
