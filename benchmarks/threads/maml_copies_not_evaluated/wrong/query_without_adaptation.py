from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F


class RegNet(nn.Module):
    def __init__(self, hid=14):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(1, hid), nn.Tanh(), nn.Linear(hid, hid), nn.Tanh())
        self.out = nn.Linear(hid, 1)

    def forward(self, x):
        return self.out(self.features(x))


class InnerLoop:
    def __init__(self, net, step_size=0.05, num_updates=2):
        self.net, self.step_size, self.num_updates = net, step_size, num_updates

    def __call__(self, support, query):
        fast_weights = OrderedDict((name, p.clone()) for name, p in self.net.named_parameters())
        for i in range(self.num_updates):
            loss = F.mse_loss(torch.func.functional_call(self.net, fast_weights, (support[0],)), support[1])
            grads = torch.autograd.grad(loss, fast_weights.values(), create_graph=True)
            fast_weights = OrderedDict((n, w - self.step_size * g) for (n, w), g in zip(fast_weights.items(), grads))
        return F.mse_loss(self.net(query[0]), query[1])


def task(rng):
    a, b = torch.rand(1, generator=rng) * 2 + 1, torch.rand(1, generator=rng) * 3
    x = torch.rand(16, 1, generator=rng) * 4 - 2
    y = a * torch.sin(x + b)
    return (x[:8], y[:8]), (x[8:], y[8:])


def main():
    torch.manual_seed(53)
    rng = torch.Generator().manual_seed(7)
    net = RegNet()
    inner, opt = InnerLoop(net), torch.optim.Adam(net.parameters(), lr=4e-3)
    for it in range(5):
        opt.zero_grad()
        loss = sum(inner(*task(rng)) for _ in range(3)) / 3
        loss.backward()
        opt.step()
    print(f"meta loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
