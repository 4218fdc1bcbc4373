"""Implicit layer on a slowly changing stream: every solve starts where the last one ended, so that six iterations suffice."""
import torch
import torch.nn as nn


class ImplicitCell(nn.Module):
    def __init__(self, d_in, d_state, n_iter=6):
        super().__init__()
        self.W = nn.Parameter(torch.randn(d_state, d_state) * 0.25 / d_state ** 0.5)
        self.U = nn.Linear(d_in, d_state)
        self.n_iter = n_iter
        self.z_star = None          # warm start

    def reset(self):
        self.z_star = None

    def g(self, z, x):
        return torch.tanh(z @ self.W.t() + self.U(x))

    def forward(self, x):
        z = torch.zeros(x.shape[0], self.W.shape[0]) if self.z_star is None else self.z_star
        for _ in range(self.n_iter):
            z = 0.5 * z + 0.5 * self.g(z, x)
        self.z_star = z
        return z


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = ImplicitCell(5, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        return self.out(self.cell(x))


class Stream:
    """frames of 32 sensors; the i-th row is always the same sensor"""

    def __init__(self, n=32, seed=0):
        self.gen = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 5, generator=self.gen)
        self.a = torch.randn(5, 2, generator=self.gen)

    def frames(self, k):
        for _ in range(k):
            self.x = 0.95 * self.x + 0.3 * torch.randn(self.x.shape, generator=self.gen)
            yield self.x, torch.sin(self.x @ self.a)


def validate(net, frames):
    net.cell.reset()
    err = []
    with torch.no_grad():
        for x, y in frames:
            err.append(((net(x) - y) ** 2).mean().item())
    net.cell.reset()
    return sum(err) / len(err)


def main():
    torch.manual_seed(1)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    train, test = Stream(seed=0), list(Stream(seed=9).frames(4))
    for epoch in range(3):
        net.cell.reset()
        for x, y in train.frames(6):
            loss = ((net(x) - y) ** 2).mean()
            opt.zero_grad()
            loss.backward(retain_graph=True)
            opt.step()
        print(epoch, '%.6f' % loss.item(), '%.6f' % validate(net, test))
    print('|W| %.6f' % net.cell.W.norm().item())


if __name__ == '__main__':
    main()
