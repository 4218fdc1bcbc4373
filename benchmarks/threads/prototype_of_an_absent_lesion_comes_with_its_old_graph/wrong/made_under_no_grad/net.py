import torch
import torch.nn as nn
import torch.nn.functional as F


class TinyUNet(nn.Module):
    def __init__(self, num_classes, emb_dim, base=8):
        super().__init__()
        self.enc1 = nn.Conv2d(1, base, 3, padding=1)
        self.enc2 = nn.Conv2d(base, base * 2, 3, stride=2, padding=1)
        self.dec = nn.Conv2d(base * 3, base, 3, padding=1)
        self.cls = nn.Conv2d(base, num_classes, 1)
        self.proj = nn.Conv2d(base, emb_dim, 1)

    def forward(self, x):
        a = F.relu(self.enc1(x))
        b = F.relu(self.enc2(a))
        up = F.interpolate(b, scale_factor=2, mode='nearest')
        h = F.relu(self.dec(torch.cat([a, up], dim=1)))
        return self.cls(h), F.normalize(self.proj(h), dim=1)
