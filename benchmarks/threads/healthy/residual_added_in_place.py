# A residual added in place to a value that nothing reads under its old meaning.
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.inp, self.f = nn.Linear(d, d), nn.Sequential(nn.Linear(d, d), nn.Tanh(), nn.Linear(d, d))

    def forward(self, x):
        h = self.inp(x)
        h += self.f(x)
        return h


torch.manual_seed(9)
net = nn.Sequential(Block(6), nn.ReLU(), Block(6), nn.Linear(6, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for it in range(6):
    x = torch.randn(24, 6)
    loss = (net(x) - x[:, :1].abs()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.6f}")
