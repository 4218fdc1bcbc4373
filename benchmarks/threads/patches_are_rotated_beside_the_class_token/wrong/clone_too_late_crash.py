"""RoPE-Mixed を使った小さな Vision Transformer（クラストークンつき）"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 42
GRID = 4          # 4x4 パッチ
PATCH_DIM = 12
DIM = 16
HEADS = 2
DEPTH = 2
CLASSES = 3


def init_random_2d_freqs(dim, num_heads, theta=10.0):
    """各ヘッドにランダムな向きの周波数を割り当てる"""
    mag = 1 / (theta ** (torch.arange(0, dim, 4)[: dim // 4].float() / dim))
    fx, fy = [], []
    for _ in range(num_heads):
        angle = torch.rand(1) * 2 * math.pi
        fx.append(torch.cat([mag * torch.cos(angle), mag * torch.cos(math.pi / 2 + angle)]))
        fy.append(torch.cat([mag * torch.sin(angle), mag * torch.sin(math.pi / 2 + angle)]))
    return torch.stack([torch.stack(fx), torch.stack(fy)])     # 2, heads, dim/2


def compute_mixed_cis(freqs, t_x, t_y):
    freqs_x = t_x[None, :, None] * freqs[0][:, None, :]
    freqs_y = t_y[None, :, None] * freqs[1][:, None, :]
    angle = freqs_x + freqs_y
    return torch.polar(torch.ones_like(angle), angle)          # heads, N, dim/2


def apply_rotary_emb(xq, xk, freqs_cis):
    xq_ = torch.view_as_complex(xq.reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.reshape(*xk.shape[:-1], -1, 2))
    xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(3)
    xk_out = torch.view_as_real(xk_ * freqs_cis).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


class RoPEAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)
        self.freqs = nn.Parameter(init_random_2d_freqs(dim // num_heads, num_heads))
        y, x = torch.meshgrid(torch.arange(GRID).float(), torch.arange(GRID).float(), indexing="ij")
        self.register_buffer("t_x", x.flatten())
        self.register_buffer("t_y", y.flatten())

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0].clone(), qkv[1].clone(), qkv[2].clone()

        # クラストークンには位置がない
        freqs_cis = compute_mixed_cis(self.freqs, self.t_x, self.t_y)
        q[:, :, 1:], k[:, :, 1:] = apply_rotary_emb(q[:, :, 1:], k[:, :, 1:], freqs_cis=freqs_cis)

        attn = (q * self.scale) @ k.transpose(-2, -1)
        attn = attn.softmax(dim=-1)
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = RoPEAttention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class RoPEViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Linear(PATCH_DIM, DIM)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, DIM))
        nn.init.trunc_normal_(self.cls_token, std=0.02)
        self.blocks = nn.Sequential(*[Block(DIM, HEADS) for _ in range(DEPTH)])
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, CLASSES)

    def forward(self, patches):
        x = self.patch_embed(patches)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)
        return self.head(self.norm(self.blocks(x))[:, 0])


def make_dataset(n=96):
    """明るいパッチの位置（上・下・中央）を当てる課題"""
    g = torch.Generator().manual_seed(SEED)
    x = 0.3 * torch.randn(n, GRID * GRID, PATCH_DIM, generator=g)
    y = torch.randint(0, CLASSES, (n,), generator=g)
    column = torch.randint(0, GRID, (n,), generator=g)
    row = torch.tensor([0, 3, 1])[y]
    x[torch.arange(n), row * GRID + column] += 1.0
    return x, y


if __name__ == "__main__":
    torch.manual_seed(SEED)
    x, y = make_dataset()
    model = RoPEViT()
    # 周波数には別の学習率を使う
    freqs = [p for n, p in model.named_parameters() if n.endswith("freqs")]
    others = [p for n, p in model.named_parameters() if not n.endswith("freqs")]
    optimizer = torch.optim.AdamW([{"params": others}, {"params": freqs, "lr": 1e-2}], lr=3e-3)
    for epoch in range(3):
        total = 0.0
        for xb, yb in zip(x.split(24), y.split(24)):
            loss = F.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / 4
        print(f"エポック {epoch}  損失 {total:.5f}")
