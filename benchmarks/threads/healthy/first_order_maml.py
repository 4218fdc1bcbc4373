# First-order MAML: the inner gradients have no graph on purpose; the tasks' losses are summed before one backward.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

torch.manual_seed(14)
net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for it in range(5):
    meta = 0.0
    for _ in range(3):
        x = torch.rand(16, 1) * 4 - 2
        y = (torch.rand(1) + 0.5) * torch.sin(x)
        fast = dict(net.named_parameters())
        loss = F.mse_loss(functional_call(net, fast, (x[:8],)), y[:8])
        grads = torch.autograd.grad(loss, list(fast.values()))
        fast = {n: p - 0.1 * g for (n, p), g in zip(fast.items(), grads)}
        meta = meta + F.mse_loss(functional_call(net, fast, (x[8:],)), y[8:])
    opt.zero_grad()
    meta.backward()
    opt.step()
print(f"{meta.item():.6f}")
