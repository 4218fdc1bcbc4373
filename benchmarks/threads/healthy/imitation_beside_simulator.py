# A policy is trained through a differentiable simulator and by imitation: both losses are meant for the same weights.
import torch
import torch.nn as nn

torch.manual_seed(21)
policy = nn.Sequential(nn.Linear(4, 14), nn.Tanh(), nn.Linear(14, 2))
opt = torch.optim.Adam(policy.parameters(), lr=5e-3)
for it in range(6):
    pos, vel, cost = torch.randn(12, 2), torch.zeros(12, 2), 0.0
    imitation = 0.0
    for _ in range(5):
        state = torch.cat([pos, vel], 1)
        force = policy(state)
        imitation = imitation + (force - (-pos - vel).clamp(-1, 1)).pow(2).mean()
        vel = vel + 0.2 * force
        pos = pos + 0.2 * vel
        cost = cost + pos.pow(2).mean()
    opt.zero_grad()
    cost.backward(retain_graph=True)
    imitation.backward()
    opt.step()
print(f"{cost.item():.6f} {imitation.item():.6f}")
