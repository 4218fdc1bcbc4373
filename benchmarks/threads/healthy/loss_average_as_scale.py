# A running average of the loss, without its graph, scales the loss: a constant on purpose.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(23)
net = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
average = None
for it in range(6):
    x = torch.randn(20, 4)
    losses = torch.stack([F.mse_loss(p, t) for p, t in zip(net(x).t(), (x[:, 0], 5 * x[:, 1]))])
    average = losses.detach() if average is None else 0.9 * average + 0.1 * losses.detach()
    loss = (losses / average).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.6f}")
