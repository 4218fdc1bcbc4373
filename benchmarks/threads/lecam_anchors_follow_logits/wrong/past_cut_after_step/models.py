import torch
import torch.nn as nn


class G(nn.Module):
    def __init__(self, dim_z, n_class, width=24):
        super().__init__()
        self.shared = nn.Embedding(n_class, 6)
        self.fc1 = nn.Linear(dim_z + 6, width)
        self.fc2 = nn.Linear(width, width)
        self.out = nn.Linear(width, 8)

    def forward(self, z, y):
        h = torch.relu(self.fc1(torch.cat([z, self.shared(y)], 1)))
        return torch.tanh(self.out(torch.relu(self.fc2(h))))


class D(nn.Module):
    """projection discriminator"""

    def __init__(self, n_class, width=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2))
        self.linear = nn.Linear(width, 1)
        self.embed = nn.Embedding(n_class, width)

    def forward(self, x, y):
        h = self.net(x)
        return self.linear(h) + (self.embed(y) * h).sum(1, keepdim=True)


class G_D(nn.Module):
    def __init__(self, G, D):
        super().__init__()
        self.G, self.D = G, D

    def forward(self, z, gy, x=None, dy=None, train_G=False):
        with torch.set_grad_enabled(train_G):
            fake = self.G(z, gy)
        if x is None:
            return self.D(fake, gy)
        out = self.D(torch.cat([fake, x], 0), torch.cat([gy, dy], 0))
        return torch.split(out, [fake.shape[0], x.shape[0]])
