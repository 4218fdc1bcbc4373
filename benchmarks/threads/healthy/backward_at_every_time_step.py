# Online learning: a backward and a step at every time step, the state cut in between, on purpose.
import torch
import torch.nn as nn

torch.manual_seed(11)
cell, out = nn.GRUCell(3, 8), nn.Linear(8, 3)
opt = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.1)
stream = torch.randn(13, 4, 3).cumsum(0) / 3
h, total = torch.zeros(4, 8), 0.0
for now, nxt in zip(stream[:-1], stream[1:]):
    h = cell(now, h.detach())
    loss = (out(h) - nxt).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
print(f"{total / 12:.6f}")
