import torch
from torch import nn


class RSSM(nn.Module):
    def __init__(self, obs=5, act=1, state=8):
        super().__init__()
        self.state = state
        self.cell = nn.GRUCell(act, state)
        self.post = nn.Linear(state + obs, state)
        self.decode = nn.Linear(state, obs)
        self.reward = nn.Linear(state, 1)

    def observe(self, obs, act):
        s, out = torch.zeros(len(obs), self.state), []
        for t in range(obs.shape[1]):
            s = torch.tanh(self.post(torch.cat([self.cell(act[:, t], s), obs[:, t]], 1)))
            out.append(s)
        return torch.stack(out, 1)

    def imagine(self, start, actor, horizon):
        s, out = start, []
        for _ in range(horizon):
            s = self.cell(actor(s.detach()), s.detach())
            out.append(s)
        return torch.stack(out, 1)
