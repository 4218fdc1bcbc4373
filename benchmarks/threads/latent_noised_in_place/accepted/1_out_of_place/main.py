import torch

from ldm import Autoencoder, Denoiser, LatentDiffusion

torch.manual_seed(37)
ldm = LatentDiffusion(Autoencoder(), Denoiser())
optimizer = torch.optim.AdamW(ldm.parameters(), lr=2e-3)
for step in range(6):
    images = torch.randn(16, 12)
    losses = ldm(images)
    optimizer.zero_grad()
    losses["loss"].backward()
    optimizer.step()
print({k: round(v.item(), 6) for k, v in losses.items()})
