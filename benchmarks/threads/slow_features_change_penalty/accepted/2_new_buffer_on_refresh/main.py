import torch

from slow import SlowFeatures

torch.manual_seed(95)
net = SlowFeatures(nodes=8, dim=5)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
graph = torch.rand(8, 8).round()
for epoch in range(6):
    idx = torch.randperm(8)[:5]
    losses = net.losses(idx, graph)
    opt.zero_grad()
    sum(losses.values()).backward()
    opt.step()
print({name: round(value.item(), 6) for name, value in losses.items()})
