# Truncated backpropagation within a summed loss: the state is cut every third step, one backward at the end.
import torch
import torch.nn as nn

torch.manual_seed(13)
cell, head = nn.LSTMCell(2, 6), nn.Linear(6, 1)
opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-2)
for it in range(5):
    x = torch.randn(9, 5, 2)
    state, loss = None, 0
    for t in range(9):
        state = cell(x[t], state)
        loss = loss + (head(state[0]).squeeze(1) - x[:t + 1].sum((0, 2)).tanh()).pow(2).mean()
        if t % 3 == 2:
            state = tuple(s.detach() for s in state)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.6f}")
