import torch
import torch.nn as nn


class FCNet(nn.Module):
    """Fully connected net with input standardisation (mean/std of the collocation points)."""

    def __init__(self, layers, x_mean, x_std, t_mean, t_std):
        super().__init__()
        self.register_buffer("x_mean", x_mean)
        self.register_buffer("x_std", x_std)
        self.register_buffer("t_mean", t_mean)
        self.register_buffer("t_std", t_std)
        self.linears = nn.ModuleList([nn.Linear(layers[i], layers[i + 1]) for i in range(len(layers) - 1)])
        for l in self.linears:
            nn.init.xavier_normal_(l.weight)
            nn.init.zeros_(l.bias)

    def forward(self, x, t):
        # standardise the inputs
        x.data -= self.x_mean
        x.data /= self.x_std
        t.data -= self.t_mean
        t.data /= self.t_std
        a = torch.cat([x, t], dim=1)
        for l in self.linears[:-1]:
            a = torch.tanh(l(a))
        return self.linears[-1](a)
