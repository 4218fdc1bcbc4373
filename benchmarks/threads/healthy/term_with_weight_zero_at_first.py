# Annealing: the KL term has weight 0 for two steps, and its optimizer group no gradient to speak of.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)
enc, dec = nn.Linear(6, 6), nn.Linear(3, 6)
prior_scale = nn.Parameter(torch.zeros(3))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), prior_scale], lr=1e-2)
for step in range(6):
    x = torch.randn(20, 6)
    mu, logvar = enc(x).chunk(2, 1)
    z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
    kl = 0.5 * ((mu.pow(2) + logvar.exp()) * (-prior_scale).exp() - logvar + prior_scale - 1).sum(1).mean()
    beta = max(0, step - 1) / 4
    loss = F.mse_loss(dec(z), x) + beta * kl
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.6f} {kl.item():.6f}")
