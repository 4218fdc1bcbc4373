# The encoder has a contrastive loss of its own, and the classifier behind it is meant to train it as well.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
encoder = nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 8))
classifier = nn.Linear(8, 3)
enc_opt = torch.optim.Adam(encoder.parameters(), lr=3e-3)
cls_opt = torch.optim.Adam(classifier.parameters(), lr=3e-3)
for it in range(6):
    x = torch.randn(18, 7)
    y = x[:, :3].argmax(1)
    z1, z2 = (F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=1) for _ in range(2))
    contrastive = F.cross_entropy(z1 @ z2.t() / 0.2, torch.arange(18))
    supervised = F.cross_entropy(classifier(encoder(x)), y)
    enc_opt.zero_grad()
    cls_opt.zero_grad()
    contrastive.backward()
    supervised.backward()
    enc_opt.step()
    cls_opt.step()
print(f"{contrastive.item():.6f} {supervised.item():.6f}")
