import math
from dataclasses import dataclass, field
from typing import List, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class BEATsConfig:
    input_patch: int = 4
    embed_dim: int = 16
    encoder_layers: int = 2
    encoder_ffn_embed_dim: int = 32
    encoder_attention_heads: int = 4
    conv_pos: int = 5
    conv_pos_groups: int = 4
    layer_norm_first: bool = True
    deep_norm: bool = False
    layerdrop: float = 0.0
    dropout: float = 0.0
    predictor_class: int = 4
    freqs: int = 8
    history: List[float] = field(default_factory=list)


class SamePad(nn.Module):
    def __init__(self, kernel_size):
        super().__init__()
        self.remove = 1 if kernel_size % 2 == 0 else 0

    def forward(self, x):
        return x[:, :, :-self.remove] if self.remove > 0 else x


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.h, self.dk = heads, dim // heads
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, key_padding_mask=None):
        B, T, C = x.shape
        q, k, v = (y.view(B, T, self.h, self.dk).transpose(1, 2) for y in self.qkv(x).chunk(3, dim=-1))
        w = q @ k.transpose(-1, -2) / math.sqrt(self.dk)
        if key_padding_mask is not None:
            w = w.masked_fill(key_padding_mask[:, None, None], float('-inf'))
        return self.out((w.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class TransformerSentenceEncoderLayer(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.self_attn = SelfAttention(args.embed_dim, args.encoder_attention_heads)
        self.norm1, self.norm2 = nn.LayerNorm(args.embed_dim), nn.LayerNorm(args.embed_dim)
        self.fc1 = nn.Linear(args.embed_dim, args.encoder_ffn_embed_dim)
        self.fc2 = nn.Linear(args.encoder_ffn_embed_dim, args.embed_dim)

    def forward(self, x, mask=None):
        residual = x
        x = self.self_attn(self.norm1(x), mask)
        x = residual + x
        residual = x
        x = self.fc2(F.gelu(self.fc1(self.norm2(x))))
        return residual + x


class TransformerEncoder(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.dropout, self.layerdrop = args.dropout, args.layerdrop
        self.layer_norm_first = args.layer_norm_first
        conv = nn.Conv1d(args.embed_dim, args.embed_dim, args.conv_pos, padding=args.conv_pos // 2, groups=args.conv_pos_groups)
        nn.init.normal_(conv.weight, 0, math.sqrt(4 / (args.conv_pos * args.embed_dim)))
        nn.init.constant_(conv.bias, 0)
        self.pos_conv = nn.Sequential(conv, SamePad(args.conv_pos), nn.GELU())
        self.layers = nn.ModuleList([TransformerSentenceEncoderLayer(args) for _ in range(args.encoder_layers)])
        self.layer_norm = nn.LayerNorm(args.embed_dim)

    def extract_features(self, x, padding_mask: Optional[torch.Tensor] = None):
        if padding_mask is not None:
            x[padding_mask] = 0
        x_conv = self.pos_conv(x.clone().transpose(1, 2))
        x_conv = x_conv.transpose(1, 2)
        x += x_conv
        if not self.layer_norm_first:
            x = self.layer_norm(x)
        x = F.dropout(x, p=self.dropout, training=self.training)
        for layer in self.layers:
            if not self.training or torch.rand(()).item() >= self.layerdrop:
                x = layer(x, padding_mask)
        return x

    def forward(self, x, padding_mask=None):
        x = self.extract_features(x, padding_mask)
        return self.layer_norm(x) if self.layer_norm_first else x


class BEATs(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.patch_embedding = nn.Conv1d(cfg.freqs, 12, cfg.input_patch, stride=cfg.input_patch, bias=False)
        self.post_extract_proj = nn.Linear(12, cfg.embed_dim)
        self.layer_norm = nn.LayerNorm(12)
        self.encoder = TransformerEncoder(cfg)
        self.predictor = nn.Linear(cfg.embed_dim, cfg.predictor_class)

    def forward(self, fbank, frame_mask=None):
        features = self.patch_embedding(fbank).transpose(1, 2)
        features = self.post_extract_proj(self.layer_norm(features))
        padding_mask = None
        if frame_mask is not None:
            padding_mask = frame_mask.view(frame_mask.size(0), features.size(1), -1).all(-1)
        x = self.encoder(features, padding_mask)
        logits = self.predictor(x)
        if padding_mask is not None:
            logits = logits.masked_fill(padding_mask.unsqueeze(-1), 0)
            return logits.sum(dim=1) / (~padding_mask).sum(dim=1, keepdim=True)
        return logits.mean(dim=1)


def fake_audioset(cfg, n, frames=24):
    x, y = torch.randn(n, cfg.freqs, frames), torch.randint(cfg.predictor_class, (n,))
    x[torch.arange(n), y] += 1.5
    length = torch.randint(frames // 2, frames + 1, (n,))
    return x, torch.arange(frames)[None] >= length[:, None], F.one_hot(y, cfg.predictor_class).float()


if __name__ == "__main__":
    torch.manual_seed(23)
    cfg = BEATsConfig()
    model = BEATs(cfg)
    x, mask, y = fake_audioset(cfg, 30)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(2):
        for idx in torch.randperm(30).split(10):
            loss = F.binary_cross_entropy_with_logits(model(x[idx], mask[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            cfg.history.append(loss.item())
        print("epoch", epoch, " ".join("%.6f" % l for l in cfg.history[-3:]))
