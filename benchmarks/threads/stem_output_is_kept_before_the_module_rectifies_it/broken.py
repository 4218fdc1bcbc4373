import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(6, 10), nn.Sigmoid())
        self.shift = nn.Hardshrink()
        self.act = nn.Threshold(0.5, 0.0, inplace=True)
        self.head = nn.Linear(10, 3)
        self.aux = nn.Linear(10, 1)

    def forward(self, x):
        self.stem_out = h = self.stem(x)
        h = self.act(h)
        return self.head(h)

    def auxiliary(self):
        return self.aux(self.stem_out)


def main():
    torch.manual_seed(1)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for step in range(8):
        x = torch.randn(10, 6)
        out = net(x)
        loss = nn.functional.cross_entropy(out, x[:, :3].argmax(1))
        loss = loss + (net.auxiliary() - x.sum(1, keepdim=True)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, "%.5f" % loss.item())


main()
