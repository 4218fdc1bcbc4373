import torch
import torch.nn as nn
import torch.nn.functional as F


class PositionalConv(nn.Module):
    """Convolutional relative position, added to the sequence itself."""

    def __init__(self, dim, kernel=3, groups=2):
        super().__init__()
        self.conv = nn.Conv1d(dim, dim, kernel, padding=kernel // 2, groups=groups)

    def forward(self, x):
        x_conv = self.conv(x.transpose(1, 2))
        x_conv = F.gelu(x_conv.transpose(1, 2))
        x = x + x_conv
        return x


class Encoder(nn.Module):
    def __init__(self, in_dim=5, dim=8):
        super().__init__()
        self.proj = nn.Linear(in_dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.pos = PositionalConv(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 16), nn.GELU(), nn.Linear(16, dim))

    def forward(self, feats):
        x = self.norm(self.proj(feats))
        y = self.pos(x)
        return x + self.ff(y)


class Model(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(8, classes)

    def forward(self, feats):
        return self.head(self.encoder(feats).mean(1))


def finetune(steps=6):
    torch.manual_seed(999)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    feats = torch.randn(24, 7, 5)
    labels = (feats[:, :, 0].mean(1) > 0).long() + (feats[:, 2, 1] > 0).long()
    for step in range(steps):
        loss = F.cross_entropy(model(feats), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.6f}  conv {model.encoder.pos.conv.weight.norm().item():.6f}")


if __name__ == '__main__':
    finetune()
