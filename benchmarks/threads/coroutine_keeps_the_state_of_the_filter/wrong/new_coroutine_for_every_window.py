"""Stateful controller written as a coroutine: send() an observation, get the command.

Imitation of a hysteretic valve, long recording, trained in windows of 12 samples.
The state of the controller has to survive the windows, as it does on the device.
"""
import torch
from torch import nn

torch.manual_seed(0)

WINDOW = 12
PLANTS = 6


class Cell(nn.Module):
    def __init__(self, n_in, n_state):
        super().__init__()
        self.inp = nn.Linear(n_in, n_state)
        self.rec = nn.Linear(n_state, n_state, bias=False)
        self.tau = nn.Parameter(torch.zeros(n_state))

    def forward(self, x, h):
        a = torch.sigmoid(self.tau)
        return (1 - a) * h + a * torch.tanh(self.inp(x) + self.rec(h))


class Controller(nn.Module):
    def __init__(self, n_in=2, n_state=16):
        super().__init__()
        self.n_state = n_state
        self.cell = Cell(n_in, n_state)
        self.read = nn.Linear(n_state, 1)

    def run(self, batch):
        """coroutine: obs -> command, for as long as somebody sends"""
        h = torch.zeros(batch, self.n_state)
        command = None
        while True:
            obs = yield command
            h = self.cell(obs, h)
            command = self.read(h)


def recording(steps):
    t = torch.arange(steps).float()
    phase = torch.arange(PLANTS).float()[:, None]
    u = torch.sin(0.13 * t + phase) + 0.5 * torch.sin(0.031 * t * (1 + phase))
    y = torch.zeros(PLANTS)
    out = []
    for k in range(steps):
        gap = u[:, k] - y
        y = y + torch.where(gap.abs() > 0.3, gap - 0.3 * gap.sign(), torch.zeros_like(gap))
        out.append(y)
    du = torch.cat([torch.zeros(PLANTS, 1), u[:, 1:] - u[:, :-1]], 1)
    return torch.stack([u, du], -1), torch.stack(out, 1)


obs, target = recording(240)
ctrl = Controller()
optimizer = torch.optim.SGD(ctrl.parameters(), lr=0.1)

for epoch in range(2):
    total = 0.
    for start in range(0, 240, WINDOW):
        stream = ctrl.run(PLANTS)
        next(stream)
        loss = 0.
        for k in range(start, start + WINDOW):
            command = stream.send(obs[:, k])
            loss = loss + (command.squeeze(1) - target[:, k]).pow(2).mean()
        loss = loss / WINDOW
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(ctrl.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    print('epoch', epoch, 'mse %.6f' % (total / (240 // WINDOW)))
