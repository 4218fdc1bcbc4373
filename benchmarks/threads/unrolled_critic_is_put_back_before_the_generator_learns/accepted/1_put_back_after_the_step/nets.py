import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, z_dim, hidden, out_dim=2):
        super().__init__()
        self.map1 = nn.Linear(z_dim, hidden)
        self.map2 = nn.Linear(hidden, hidden)
        self.map3 = nn.Linear(hidden, out_dim)
        self.act = nn.ReLU()

    def forward(self, z):
        return self.map3(self.act(self.map2(self.act(self.map1(z)))))


class Discriminator(nn.Module):
    def __init__(self, hidden, in_dim=2):
        super().__init__()
        self.map1 = nn.Linear(in_dim, hidden)
        self.map2 = nn.Linear(hidden, hidden)
        self.map3 = nn.Linear(hidden, 1)
        self.act = nn.Tanh()

    def forward(self, x):
        x = self.act(self.map1(x))
        x = self.act(self.map2(x))
        return self.map3(x)
