import math

import torch
import torch.nn as nn


class FullGRUODECell(nn.Module):
    """dh/dt = (1 - z) * (u - h)"""

    def __init__(self, hidden_size):
        super().__init__()
        self.lin_r = nn.Linear(hidden_size, hidden_size)
        self.lin_z = nn.Linear(hidden_size, hidden_size)
        self.lin_u = nn.Linear(hidden_size, hidden_size)

    def forward(self, h):
        r = torch.sigmoid(self.lin_r(h))
        z = torch.sigmoid(self.lin_z(h))
        u = torch.tanh(self.lin_u(r * h))
        return (1 - z) * (u - h)


class GRUObservationCell(nn.Module):
    """Discrete update of the hidden states of those who have been observed."""

    def __init__(self, input_size, hidden_size, prep_hidden):
        super().__init__()
        self.gru_d = nn.GRUCell(prep_hidden * input_size, hidden_size)
        self.w_prep = nn.Parameter(0.3 * torch.randn(input_size, 4, prep_hidden))
        self.bias_prep = nn.Parameter(torch.full((input_size, prep_hidden), 0.1))

    def forward(self, h, p, X_obs, i_obs):
        mean, logvar = torch.chunk(p[i_obs], 2, dim=1)
        sigma = torch.exp(0.5 * logvar)
        error = (X_obs - mean) / sigma
        losses = 0.5 * (error.pow(2) + logvar + math.log(2 * math.pi))
        gru_input = torch.stack([X_obs, mean, logvar, error], dim=2).unsqueeze(2)
        gru_input = torch.matmul(gru_input, self.w_prep).squeeze(2) + self.bias_prep
        gru_input = torch.relu(gru_input).flatten(1)
        temp = h.detach().clone()
        temp[i_obs] = self.gru_d(gru_input, h[i_obs])
        h = temp
        return h, losses.sum()


class NNFO(nn.Module):
    def __init__(self, input_size, hidden_size, p_hidden, prep_hidden, mixing):
        super().__init__()
        self.input_size = input_size
        self.mixing = mixing
        self.h0 = nn.Parameter(0.1 * torch.randn(1, hidden_size))
        self.gru_c = FullGRUODECell(hidden_size)
        self.gru_obs = GRUObservationCell(input_size, hidden_size, prep_hidden)
        self.p_model = nn.Sequential(nn.Linear(hidden_size, p_hidden), nn.ReLU(),
                                     nn.Linear(p_hidden, 2 * input_size))

    def ode_step(self, h, p, delta_t):
        h = h + delta_t * self.gru_c(h)
        p = self.p_model(h)
        return h, p

    def forward(self, times, time_ptr, X, obs_idx, n, delta_t, T):
        h = self.h0.repeat(n, 1)
        p = self.p_model(h)
        current_time = 0.0
        loss_1 = loss_2 = 0.0       # before / after the jump

        for i, obs_time in enumerate(times):
            while current_time < obs_time - 0.001 * delta_t:
                h, p = self.ode_step(h, p, delta_t)
                current_time += delta_t
            start, end = time_ptr[i], time_ptr[i + 1]
            X_obs, i_obs = X[start:end], obs_idx[start:end]

            h, losses = self.gru_obs(h, p, X_obs, i_obs)
            loss_1 = loss_1 + losses
            p = self.p_model(h)
            mean, logvar = torch.chunk(p[i_obs], 2, dim=1)
            loss_2 = loss_2 + 0.5 * ((X_obs - mean).pow(2) / logvar.exp() + logvar).sum()

        loss_1 = loss_1 / len(X)
        loss_2 = loss_2 / len(X)
        return loss_1 + self.mixing * loss_2, loss_1, loss_2
