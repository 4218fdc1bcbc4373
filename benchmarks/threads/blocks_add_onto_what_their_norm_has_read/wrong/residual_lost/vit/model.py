import torch
import torch.nn as nn

from .layers import Block, PatchEmbed


class VisionTransformer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        dim = cfg.embed_dim
        self.patch_embed = PatchEmbed(cfg.image_size, cfg.patch_size, cfg.in_chans, dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, self.patch_embed.num_patches + 1, dim))
        self.pos_drop = nn.Dropout(cfg.drop_rate)
        self.blocks = nn.ModuleList(
            [Block(dim, cfg.num_heads, cfg.mlp_ratio, cfg.drop_rate) for _ in range(cfg.depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, cfg.num_classes)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)
        nn.init.trunc_normal_(self.cls_token, std=0.02)

    def forward(self, x):
        x = self.patch_embed(x)
        cls = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat((cls, x), dim=1)
        x += self.pos_embed
        x = self.pos_drop(x)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x[:, 0])
