import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, z_dim, seq_len):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(z_dim, 16), nn.LeakyReLU(0.2), nn.Linear(16, seq_len), nn.Tanh())

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self, seq_len):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(seq_len, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x)
