# Alternating phases: the generator's optimizer steps only from the third iteration, and on every second one.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)
G = nn.Sequential(nn.Linear(2, 10), nn.ReLU(), nn.Linear(10, 5))
D = nn.Sequential(nn.Linear(5, 10), nn.LeakyReLU(0.2), nn.Linear(10, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters(), lr=2e-3), torch.optim.Adam(D.parameters(), lr=2e-3)
for it in range(12):
    real, fake = torch.randn(16, 5) + 1, G(torch.randn(16, 2))
    loss_d = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    if it >= 2 and it % 2 == 0:
        loss_g = F.softplus(-D(fake)).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
print(f"{loss_d.item():.6f} {loss_g.item():.6f}")
