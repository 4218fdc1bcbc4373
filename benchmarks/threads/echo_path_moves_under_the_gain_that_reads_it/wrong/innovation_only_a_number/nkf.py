import torch
import torch.nn as nn


class KGNet(nn.Module):
    """Kalman gain of every tap from the far-end frame, the filter and the innovation"""

    def __init__(self, taps, hidden):
        super().__init__()
        self.fc_x = nn.Linear(taps, hidden)
        self.fc_h = nn.Linear(taps, hidden)
        self.fc_e = nn.Linear(1, hidden)
        self.gru = nn.GRUCell(hidden, hidden)
        self.fc_out = nn.Linear(hidden, taps)

    def forward(self, x, h, e, state):
        feat = torch.tanh(self.fc_x(x) + self.fc_h(h) + self.fc_e(e))
        state = self.gru(feat, state)
        return 0.1 * torch.tanh(self.fc_out(state)), state


class NKF(nn.Module):
    """Neural Kalman filter for echo cancellation, real-valued toy version (one sample = one frame)"""

    def __init__(self, taps, hidden):
        super().__init__()
        self.taps, self.hidden = taps, hidden
        self.kg_net = KGNet(taps, hidden)

    def forward(self, far, mic):
        batch, length = far.shape
        far = nn.functional.pad(far, (self.taps - 1, 0))
        h = torch.zeros(batch, self.taps)
        state = torch.zeros(batch, self.hidden)
        echo_hat = torch.zeros(batch, length)
        for t in range(length):
            xt = far[:, t:t + self.taps]
            # innovation of the prior filter
            e = mic[:, t:t + 1] - (xt * h).sum(1, keepdim=True)
            kg, state = self.kg_net(xt, h, e, state)
            # posterior filter
            h = h + kg * e.detach()
            echo_hat[:, t] = (xt * h).sum(1)
        return echo_hat
