import torch
from torch import nn


class MultiTask:
    def __init__(self, tasks):
        self.data = {name: (torch.randn(20, 4), torch.randn(20, 1)) for name in tasks}
        self.trunk = nn.Linear(4, 8)
        self.heads = nn.ModuleDict({name: nn.Linear(8, 1) for name in tasks})
        self.rebuild = nn.Linear(8, 4)
        self.opt = torch.optim.Adam([*self.trunk.parameters(), *self.heads.parameters(), *self.rebuild.parameters()], lr=4e-3)

    def round(self):
        total = 0.0
        for name, head in self.heads.items():
            x, y = self.data[name]
            clean = torch.tanh(self.trunk(x))
            hide = torch.rand_like(x) < 0.15
            x = x.masked_fill(hide, 0.0)
            masked = torch.tanh(self.trunk(x))
            loss = (head(clean) - y).square().mean() + (self.rebuild(masked) - clean.detach() @ self.rebuild.weight.t()).square().mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total


torch.manual_seed(7)
trainer = MultiTask(["speed", "price", "size"])
for r in range(5):
    print(r, round(trainer.round(), 5))
