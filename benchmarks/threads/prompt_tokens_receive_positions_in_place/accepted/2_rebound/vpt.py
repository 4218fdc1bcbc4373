"""Visual prompt tuning on a tiny transformer: backbone frozen, prompts and head trained."""
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        h = self.n1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.mlp(self.n2(x))


class PromptedViT(nn.Module):
    def __init__(self, dim, n_patches, n_prompts, n_classes, depth):
        super().__init__()
        self.embed = nn.Linear(5, dim)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.prompt = nn.Parameter(torch.empty(1, n_prompts, dim).uniform_(-0.3, 0.3))
        self.register_buffer("prompt_pos", 0.02 * torch.randn(1, n_prompts, dim))
        self.register_buffer("pos", 0.02 * torch.randn(1, n_patches + 1, dim))
        self.blocks = nn.ModuleList([Block(dim) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_classes)

    def freeze_backbone(self):
        for name, p in self.named_parameters():
            p.requires_grad = name == "prompt" or name.startswith("head.")

    def insert_prompts(self, x):
        tokens = self.prompt
        tokens = tokens + self.prompt_pos
        return torch.cat([x[:, :1], tokens.expand(x.size(0), -1, -1), x[:, 1:]], dim=1)

    def forward(self, patches):
        x = self.embed(patches)
        x = torch.cat([self.cls.expand(x.size(0), -1, -1), x], dim=1)
        x += self.pos
        x = self.insert_prompts(x)
        for blk in self.blocks:
            x = blk(x)
        return self.head(self.norm(x)[:, 0])


def toy_batch(n):
    y = torch.randint(0, 4, (n,))
    x = torch.randn(n, 6, 5) * 0.5
    x[torch.arange(n), y, 0] += 2.0
    return x, y
