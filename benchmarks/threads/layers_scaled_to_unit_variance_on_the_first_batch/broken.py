"""LSUV (all you need is a good init) for a small conv net, then a few steps of training."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, width=12, classes=3):
        super().__init__()
        self.c1 = nn.Conv2d(1, width, 3, padding=1)
        self.c2 = nn.Conv2d(width, width, 3, padding=1, stride=2)
        self.c3 = nn.Conv2d(width, width, 3, padding=1, stride=2)
        self.fc = nn.Linear(width, classes)

    def forward(self, x):
        x = F.leaky_relu(self.c1(x), 0.1)
        x = F.leaky_relu(self.c2(x), 0.1)
        x = F.leaky_relu(self.c3(x), 0.1)
        return self.fc(x.mean((2, 3)))


class Lsuv:
    """orthonormal weights, then every layer is scaled until its output has unit variance"""

    def __init__(self, model, tol=0.02, max_tries=8):
        self.model, self.tol, self.max_tries = model, tol, max_tries
        self.layers = [m for m in model.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
        self.stats = {}

    def _hook(self, module, args, output):
        self.stats[module] = (output.mean(), output.std())

    def __call__(self, batch):
        for m in self.layers:
            nn.init.orthogonal_(m.weight)
            nn.init.zeros_(m.bias)
        for m in self.layers:
            handle = m.register_forward_hook(self._hook)
            for k in range(self.max_tries):
                self.model(batch)
                mean, std = self.stats[m]
                if abs(std.item() - 1) < self.tol and abs(mean.item()) < self.tol:
                    break
                m.weight /= std
                m.bias -= mean
            handle.remove()
            print('%-7s tries %d  std %.4f' % (type(m).__name__, k, std.item()))
        return self.model


def stripes(n, gen):
    y = torch.randint(0, 3, (n,), generator=gen)
    t = torch.arange(16).float()
    k = 0.5 + 0.4 * y.float()
    x = torch.sin(k[:, None, None] * t[None, None, :] + 0.2 * t[None, :, None])
    return (x + 0.5 * torch.randn(n, 16, 16, generator=gen))[:, None] * 3, y


def train(steps=10):
    torch.manual_seed(13)
    gen = torch.Generator().manual_seed(6)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    x, y = stripes(64, gen)
    Lsuv(net)(x)
    for s in range(steps):
        x, y = stripes(32, gen)
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if s % 3 == 0:
            print(s, 'loss %.5f' % loss.item(), 'acc %.3f' % (net(x).argmax(1) == y).float().mean())


train()
