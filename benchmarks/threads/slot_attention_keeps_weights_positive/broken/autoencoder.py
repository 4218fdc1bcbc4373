import torch
from torch import nn

from slots import SlotAttention


def build_grid(n):
    r = torch.linspace(0., 1., n)
    gy, gx = torch.meshgrid(r, r, indexing='ij')
    return torch.stack([gy, gx, 1 - gy, 1 - gx], -1)[None]


class SoftPositionEmbed(nn.Module):
    def __init__(self, dim, n):
        super().__init__()
        self.embedding = nn.Linear(4, dim)
        self.register_buffer('grid', build_grid(n))

    def forward(self, x):
        x = x + self.embedding(self.grid)
        return x


class SlotAutoEncoder(nn.Module):
    def __init__(self, resolution=6, num_slots=3, dim=16):
        super().__init__()
        self.n = resolution
        self.conv = nn.Sequential(nn.Conv2d(3, dim, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(dim, dim, 3, padding=1))
        self.encoder_pos = SoftPositionEmbed(dim, resolution)
        self.decoder_pos = SoftPositionEmbed(dim, resolution)
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.slot_attention = SlotAttention(num_slots, dim)
        self.decoder = nn.Sequential(nn.Linear(dim, 24), nn.ReLU(), nn.Linear(24, 4))

    def encode(self, image):
        x = self.conv(image).permute(0, 2, 3, 1)
        x = self.encoder_pos(x)
        return self.mlp(x.flatten(1, 2))

    def forward(self, image):
        slots, attn = self.slot_attention(self.encode(image))
        x = slots[:, :, None, None, :].expand(-1, -1, self.n, self.n, -1)
        recons, masks = self.decoder(self.decoder_pos(x)).split([3, 1], dim=-1)
        masks = masks.softmax(dim=1)
        recon = (recons * masks).sum(1).permute(0, 3, 1, 2)
        return recon, masks, attn
