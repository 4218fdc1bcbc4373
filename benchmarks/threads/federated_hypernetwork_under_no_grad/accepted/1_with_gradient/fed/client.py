import torch
import torch.nn as nn
import torch.nn.functional as F


def target_net():
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))


class Client:
    def __init__(self, seed):
        g = torch.Generator().manual_seed(seed)
        self.direction = torch.randn(4, generator=g)
        self.x = torch.randn(24, 4, generator=g)
        self.y = (self.x @ self.direction > 0).long()

    def train(self, weights, inner_steps, lr):
        net = target_net()
        net.load_state_dict(weights)
        optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9, weight_decay=5e-5)
        for _ in range(inner_steps):
            loss = F.cross_entropy(net(self.x), self.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return net.state_dict(), loss.item()
