import torch
from torch import nn
from torch.utils.data import DataLoader

from prep import whiten_

torch.manual_seed(2)
table = torch.randn(40, 5) * 2 + 1
wanted = table[:, :1].sin() + table[:, 1:2]
loader = DataLoader(range(40), batch_size=8, collate_fn=lambda at: {"x": table[at[0] : at[-1] + 1], "y": wanted[at[0] : at[-1] + 1]})
raw, white = nn.Linear(5, 1), nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1))
opt = torch.optim.Adam([*raw.parameters(), *white.parameters()], lr=1e-2)


def step(batch):
    x = batch["x"]
    line = raw(x)
    loss = (line + white(whiten_(x.clone())) - batch["y"]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()


for epoch in range(3):
    print(epoch, sum(step(batch) for batch in loader) / len(loader))
