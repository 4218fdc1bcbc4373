import torch.nn as nn
import torch.nn.functional as F


class Q_net(nn.Module):
    """encoder"""
    def __init__(self, x_dim, N, z_dim):
        super(Q_net, self).__init__()
        self.lin1 = nn.Linear(x_dim, N)
        self.lin2 = nn.Linear(N, N)
        self.lin3gauss = nn.Linear(N, z_dim)

    def forward(self, x):
        x = F.relu(self.lin1(x))
        x = F.relu(self.lin2(x))
        return self.lin3gauss(x)


class P_net(nn.Module):
    """decoder"""
    def __init__(self, x_dim, N, z_dim):
        super(P_net, self).__init__()
        self.lin1 = nn.Linear(z_dim, N)
        self.lin2 = nn.Linear(N, x_dim)

    def forward(self, z):
        return self.lin2(F.relu(self.lin1(z))).sigmoid()


class D_net_gauss(nn.Module):
    def __init__(self, N, z_dim):
        super(D_net_gauss, self).__init__()
        self.lin1 = nn.Linear(z_dim, N)
        self.lin2 = nn.Linear(N, 1)

    def forward(self, z):
        return self.lin2(F.leaky_relu(self.lin1(z), 0.2)).sigmoid()
