# A vector-quantised autoencoder: `z + (q - z).detach()` looks like a term that cancels.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
enc, dec = nn.Linear(6, 4), nn.Linear(4, 6)
codebook = nn.Embedding(8, 4)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *codebook.parameters()], lr=5e-3)
for it in range(6):
    x = torch.randn(20, 6)
    z = enc(x)
    q = codebook(torch.cdist(z.detach(), codebook.weight.detach()).argmin(1))
    loss = F.mse_loss(dec(z + (q - z).detach()), x) + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.6f}")
