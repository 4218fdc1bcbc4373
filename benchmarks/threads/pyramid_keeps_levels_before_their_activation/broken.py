import torch
import torch.nn.functional as F
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([nn.Linear(6, 8), nn.Linear(8, 8), nn.Linear(8, 4)])

    def forward(self, x):
        levels = []
        for stage in self.stages:
            x = torch.tanh(stage(x))
            levels.append(x)
            x = F.relu(x, inplace=True)
        return x, levels


torch.manual_seed(0)
net = Backbone()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    data = torch.randn(12, 6)
    out, levels = net(data)
    balance = sum(level.mean(0).square().mean() for level in levels)
    loss = F.cross_entropy(out, (data[:, 0] > 0).long()) + balance
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, round(loss.item(), 5))
